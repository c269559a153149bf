import type { Shape } from "./shape.ts";

/** The key that the service accepts. */
export const KEY = "bench-key-0123456789abcdef";

/** How many connections have carried requests, and how many of them streams. */
export interface Counts {
  readonly connections: number;
  readonly streams: number;
}

/** The files of a certificate for loopback and of its issuer. */
export interface Certificate {
  readonly authority: string;
  readonly certificate: string;
  readonly privateKey: string;
}

/** Where a service is reached. */
export interface Endpoint {
  readonly url: string;
  /** The file with the certificate to trust, if the service speaks TLS. */
  readonly authority: string | undefined;
}

/** The service of `service.ts`, running in a process of its own. */
export class LoadService implements Endpoint, AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly url: string;
  readonly authority: string | undefined;

  /** Starts the service, and returns when it can be reached. */
  static async start(tls?: Certificate): Promise<LoadService> {
    const files = tls ? [tls.certificate, tls.privateKey] : [];
    const child = new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "-q", "--no-config", "--allow-net", "--allow-read"],
        ...[`${import.meta.dirname}/service.ts`, KEY, ...files],
      ],
      stdin: "piped", // It ends when this process does.
      stdout: "piped",
    }).spawn();
    const reader = child.stdout.pipeThrough(new TextDecoderStream())
      .getReader();
    const { value = "" } = await reader.read();
    return new LoadService(child, value.trim(), tls?.authority);
  }

  private constructor(
    child: Deno.ChildProcess,
    url: string,
    authority: string | undefined,
  ) {
    this.#child = child;
    this.url = url;
    this.authority = authority;
  }

  /** Makes the service prepare a stream, so that the measurement does not include it. */
  async prepare(shape: Shape): Promise<void> {
    const response = await fetch(`${this.url}/threads/any/runs`, {
      method: "POST",
      headers: { "x-api-key": KEY, connection: "close" },
      body: JSON.stringify({ prompt: JSON.stringify(shape) }),
    });
    await response.body?.cancel();
  }

  /** The connections since the start. */
  async counts(): Promise<Counts> {
    return await (await fetch(`${this.url}/counts`)).json();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#child.stdin.close();
    await this.#child.stdout.cancel().catch(() => {});
    await this.#child.status;
  }
}
