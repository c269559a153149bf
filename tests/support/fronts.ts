import type { Leaf } from "./local_ca.ts";

/** Whether a command is installed: without it, the tests that need it are skipped. */
export function isInstalled(command: string): boolean {
  try {
    new Deno.Command(command, { args: ["-v"], stdout: "null", stderr: "null" })
      .outputSync();
    return true;
  } catch {
    return false;
  }
}

/** Options of a {@linkcode Front}. */
export interface FrontOptions {
  /** The certificate that the front presents to clients. */
  readonly tls: Leaf;
  /** The service's address, as `host:port`. */
  readonly upstream: string;
  /** Further lines for the section that forwards the requests. */
  readonly lines?: readonly string[];
}

/** A real reverse proxy between client and service, with TLS and HTTP/2. */
export class Front implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #folder: string;
  readonly #port: number;

  /** Starts nginx with HTTP/2; `lines` go into its `server` block. */
  static nginx(options: FrontOptions): Promise<Front> {
    return Front.#start("nginx", options, nginxConfig, (file) => ["-c", file]);
  }

  /** Starts HAProxy with HTTP/2; `lines` go into its `backend` section. */
  static haproxy(options: FrontOptions): Promise<Front> {
    return Front.#start(
      "haproxy",
      options,
      haproxyConfig,
      (file) => ["-db", "-f", file],
    );
  }

  static async #start(
    command: string,
    options: FrontOptions,
    config: (options: FrontOptions, folder: string, port: number) => string,
    args: (file: string) => string[],
  ): Promise<Front> {
    const folder = await Deno.makeTempDir();
    await Deno.chmod(folder, 0o755); // nginx's workers do not run as root
    const port = freePort();
    await Deno.writeTextFile(`${folder}/cert.pem`, options.tls.cert);
    await Deno.writeTextFile(`${folder}/key.pem`, options.tls.key);
    const both = options.tls.cert + options.tls.key;
    await Deno.writeTextFile(`${folder}/both.pem`, both);
    const file = `${folder}/${command}.conf`;
    await Deno.writeTextFile(file, config(options, folder, port));
    const child = new Deno.Command(command, {
      args: args(file),
      stdin: "null",
      stdout: "null",
      stderr: "inherit",
    }).spawn();
    const front = new Front(child, folder, port);
    await front.#listening();
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

  async #listening(): Promise<void> {
    let hasEnded = false;
    this.#child.status.then(() => hasEnded = true);
    while (!hasEnded) {
      try {
        (await Deno.connect({ hostname: "127.0.0.1", port: this.#port }))
          .close();
        return;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
    throw new Error("The front has ended; see its message above");
  }
}

/** A port without a listener. */
function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

function nginxConfig(
  { upstream, lines = [] }: FrontOptions,
  folder: string,
  port: number,
): string {
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
    ${lines.join("\n    ")}
    location / {
      proxy_pass http://${upstream};
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_read_timeout 60s;
    }
  }
}
`;
}

function haproxyConfig(
  { upstream, lines = [] }: FrontOptions,
  folder: string,
  port: number,
): string {
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
  ${lines.join("\n  ")}
  server one ${upstream}
`;
}
