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

/** The settings of each server, with the names of what a {@linkcode Front} fills in. */
const CONFIGS = {
  nginx: `
daemon off;
worker_processes 1;
pid FOLDER/pid;
error_log FOLDER/error.log;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path FOLDER/client;
  proxy_temp_path FOLDER/proxy;
  fastcgi_temp_path FOLDER/fastcgi;
  uwsgi_temp_path FOLDER/uwsgi;
  scgi_temp_path FOLDER/scgi;
  server {
    listen 127.0.0.1:PORT ssl http2;
    ssl_certificate FOLDER/cert.pem;
    ssl_certificate_key FOLDER/key.pem;
    location / {
      proxy_pass http://UPSTREAM;
      LINES
    }
  }
}
`,
  haproxy: `
global
  maxconn 2000
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend clients
  bind 127.0.0.1:PORT ssl crt FOLDER/both.pem alpn h2,http/1.1
  default_backend service
backend service
  LINES
  server one UPSTREAM
`,
};

/** The command of a front. */
export type FrontName = keyof typeof CONFIGS;

export interface FrontOptions {
  /** The certificate that the front presents to clients. */
  readonly tls: Leaf;
  /** The service's base URL. */
  readonly upstream: string;
  /** Further lines for the section that forwards the requests. */
  readonly lines: string;
}

/**
 * A real reverse proxy between client and service, with TLS and HTTP/2. Its
 * settings are those of the server, but for what a test names.
 */
export class Front implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #folder: string;
  readonly #reserved: ReservedPort;
  /** The base URL for a client. */
  readonly url: string;

  static async start(
    name: FrontName,
    { tls: { cert, key }, upstream, lines }: FrontOptions,
  ): Promise<Front> {
    const folder = await Deno.makeTempDir();
    await Deno.chmod(folder, 0o755); // Workers do not run as root.
    const reserved = reservePort();
    const { port } = reserved;
    const config = CONFIGS[name].replaceAll("FOLDER", folder)
      .replace("PORT", `${port}`)
      .replace("UPSTREAM", new URL(upstream).host)
      .replace("LINES", lines);
    const files = { config, "cert.pem": cert, "key.pem": key };
    for (
      const [file, text] of Object.entries({ ...files, "both.pem": cert + key })
    ) await Deno.writeTextFile(`${folder}/${file}`, text);
    const args = name === "nginx" ? ["-c"] : ["-db", "-f"];
    const child = new Deno.Command(name, {
      args: [...args, `${folder}/config`],
      stdin: "null",
      stdout: "null",
      stderr: "inherit",
    }).spawn();
    await listening(child, port);
    return new Front(child, folder, reserved);
  }

  private constructor(
    child: Deno.ChildProcess,
    folder: string,
    reserved: ReservedPort,
  ) {
    this.#child = child;
    this.#folder = folder;
    this.#reserved = reserved;
    this.url = `https://127.0.0.1:${reserved.port}`;
  }

  /** Makes nginx reload its configuration, which replaces its workers. */
  reload(): void {
    this.#child.kill("SIGHUP");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGTERM");
    await this.#child.status;
    this.#reserved[Symbol.dispose]();
    await Deno.remove(this.#folder, { recursive: true });
  }
}

/** Resolves when a process listens at a port; if it ends before, that is an error. */
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

/** Where ports are reserved: not where their servers listen. */
const RESERVATIONS = Deno.build.os === "darwin" ? "::1" : "127.0.0.2";

/** A port of 127.0.0.1 for a server that a test starts. */
export interface ReservedPort extends Disposable {
  readonly port: number;
}

/**
 * Reserves a port on which a test then starts a server: until it is disposed, no other
 * test can reserve it, because it is in use at another address. It is below 32768: Linux
 * does not give such a port to a program that asks for any free one.
 */
export function reservePort(): ReservedPort {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    const reservation = listen(RESERVATIONS, port);
    if (reservation === undefined) continue;
    const probe = listen("127.0.0.1", port);
    probe?.close();
    if (probe !== undefined) {
      return { port, [Symbol.dispose]: () => reservation.close() };
    }
    reservation.close();
  }
}

/** A listener; `undefined` if the port is taken. */
function listen(hostname: string, port: number): Deno.Listener | undefined {
  try {
    return Deno.listen({ hostname, port });
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse) return undefined;
    throw error;
  }
}
