import type { Leaf } from "./local_ca.ts";
import { missingTools } from "./missing_tools.ts";

const onWindows = Deno.build.os === "windows";

/** The commands that CI has: there, no test is skipped because one is missing. */
const REQUIRED = (Deno.env.get("REQUIRED_COMMANDS") ?? "").split(" ");

/**
 * Whether a command is on the path: without it, the tests that need it are skipped.
 * It is not run: `tmux -v` leaves logs in the folder.
 *
 * @throws {Error} If `REQUIRED_COMMANDS` names it, and it is missing.
 */
export function isInstalled(command: string): boolean {
  const folders = Deno.env.get("PATH")?.split(onWindows ? ";" : ":") ?? [];
  const file = onWindows ? `${command}.exe` : command;
  const isThere = folders.some((folder) => {
    try {
      return Deno.statSync(`${folder}/${file}`).isFile;
    } catch {
      return false;
    }
  });
  if (!isThere && REQUIRED.includes(command)) {
    throw new Error(`${command} is missing, and REQUIRED_COMMANDS names it`);
  }
  if (!isThere) missingTools.add(command);
  return isThere;
}

/** The command of a front. */
export type FrontName = "nginx" | "haproxy";

export interface FrontOptions {
  /** The certificate that the front presents to clients. */
  readonly tls: Leaf;
  /** The service's address, as `host:port`. */
  readonly upstream: string;
  /** Further lines for the section that forwards the requests. */
  readonly lines?: readonly string[];
}

/** Where a server listens, and where its files are. */
interface Place {
  readonly folder: string;
  readonly port: number;
}

type Config = (options: FrontOptions, place: Place) => string;

/**
 * A real reverse proxy between client and service, with TLS and HTTP/2. Its
 * settings are those of the server, but for what a test names.
 */
export class Front implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #folder: string;
  readonly #port: number;

  static async start(name: FrontName, options: FrontOptions): Promise<Front> {
    const folder = await Deno.makeTempDir();
    await Deno.chmod(folder, 0o755); // Workers do not run as root.
    const port = freePort();
    const { cert, key } = options.tls;
    await Deno.writeTextFile(`${folder}/cert.pem`, cert);
    await Deno.writeTextFile(`${folder}/key.pem`, key);
    await Deno.writeTextFile(`${folder}/both.pem`, cert + key);
    const file = `${folder}/${name}.conf`;
    const { args, config } = SERVERS[name];
    await Deno.writeTextFile(file, config(options, { folder, port }));
    const child = new Deno.Command(name, {
      args: [...args, file],
      stdin: "null",
      stdout: "null",
      stderr: "inherit",
    }).spawn();
    const front = new Front(child, folder, port);
    await listening(child, port);
    return front;
  }

  private constructor(
    child: Deno.ChildProcess,
    folder: string,
    port: number,
  ) {
    this.#child = child;
    this.#folder = folder;
    this.#port = port;
  }

  /** The base URL for a client. */
  get url(): string {
    return `https://127.0.0.1:${this.#port}`;
  }

  /** Makes nginx reload its configuration, which replaces its workers. */
  reload(): void {
    this.#child.kill("SIGHUP");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGTERM");
    await this.#child.status;
    await Deno.remove(this.#folder, { recursive: true });
  }
}

/**
 * Resolves when something listens at a port of this machine.
 *
 * @param child The process that will. If it ends before, it is an error.
 */
export async function listening(
  child: Deno.ChildProcess,
  port: number,
): Promise<void> {
  let hasEnded = false;
  child.status.then(() => hasEnded = true);
  while (!hasEnded) {
    try {
      (await Deno.connect({ hostname: "127.0.0.1", port })).close();
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  throw new Error("The process has ended; see its message");
}

/**
 * A port without a listener. It is below the ports that Linux gives to whoever asks for
 * any port: no other test gets it before the server that it is for listens there.
 */
export function freePort(): number {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    try {
      Deno.listen({ hostname: "127.0.0.1", port }).close();
      return port;
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    }
  }
}

const nginx: Config = (options, { folder, port }) => {
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${folder}/${name};`);
  return `
daemon off;
worker_processes 1;
pid ${folder}/pid;
error_log ${folder}/error.log;
events { worker_connections 4096; }
http {
  access_log off;
  ${paths.join("\n  ")}
  server {
    listen 127.0.0.1:${port} ssl http2;
    ssl_certificate ${folder}/cert.pem;
    ssl_certificate_key ${folder}/key.pem;
    location / {
      proxy_pass http://${options.upstream};
      ${options.lines?.join("\n      ") ?? ""}
    }
  }
}
`;
};

const haproxy: Config = (options, { folder, port }) => {
  return `
global
  maxconn 2000
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend clients
  bind 127.0.0.1:${port} ssl crt ${folder}/both.pem alpn h2,http/1.1
  default_backend service
backend service
  ${options.lines?.join("\n  ") ?? ""}
  server one ${options.upstream}
`;
};

/** The command line and the settings of each server. */
const SERVERS: Readonly<
  Record<
    FrontName,
    { readonly args: readonly string[]; readonly config: Config }
  >
> = {
  nginx: { args: ["-c"], config: nginx },
  haproxy: { args: ["-db", "-f"], config: haproxy },
};
