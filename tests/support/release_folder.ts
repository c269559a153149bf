import { formatSums, sha256 } from "../../tools/checksums.ts";

/** A file of a release: its bytes, and its faults. */
export interface ReleaseFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The number of bytes after which the connection breaks. */
  readonly cutAfter?: number;
  /** Instead of 200. */
  readonly status?: number;
}

/** Compresses bytes as `deno task packages` does. */
export async function gzip(
  content: Uint8Array<ArrayBuffer> | string,
): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([content]).stream()
    .pipeThrough(new CompressionStream("gzip"));
  return await new Response(stream).bytes();
}

/**
 * Releases on loopback, laid out as GitHub does: `/latest/download/NAME` and
 * `/download/vX.Y.Z/NAME`. Each holds the given files, plain and compressed, and
 * `SHA256SUMS`.
 */
export class ReleaseFolder implements AsyncDisposable {
  readonly #server: Deno.HttpServer<Deno.NetAddr> = Deno.serve(
    {
      hostname: "127.0.0.1",
      port: 0,
      onListen: () => {},
      onError: () => new Response(null, { status: 500 }), // cut on purpose
    },
    (request) => this.#answer(new URL(request.url).pathname),
  );
  readonly #files = new Map<string, ReleaseFile>();
  /** The requested paths, in order. */
  readonly requested: string[] = [];

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  /** Adds a release, `latest` or `vX.Y.Z`, and the sums of its files. */
  async add(
    release: string,
    files: Readonly<Record<string, Uint8Array<ArrayBuffer> | string>>,
  ): Promise<void> {
    const sums = new Map<string, string>();
    for (const [name, content] of Object.entries(files)) {
      const bytes = await new Blob([content]).bytes();
      sums.set(name, await sha256(bytes));
      this.set(release, name, { bytes });
      this.set(release, `${name}.gz`, { bytes: await gzip(bytes) });
    }
    const bytes = new TextEncoder().encode(formatSums(sums));
    this.set(release, "SHA256SUMS", { bytes });
  }

  /** Sets one file of a release, whatever its sum is. */
  set(release: string, name: string, file: ReleaseFile): void {
    const folder = release === "latest"
      ? "/latest/download"
      : `/download/${release}`;
    this.#files.set(`${folder}/${name}`, file);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }

  #answer(path: string): Response {
    this.requested.push(path);
    const file = this.#files.get(path);
    if (file === undefined) return new Response("Not Found", { status: 404 });
    const { bytes, cutAfter, status = 200 } = file;
    if (cutAfter === undefined) return new Response(bytes, { status });
    let sent = false;
    const body = new ReadableStream({
      pull(controller) {
        if (sent) return controller.error(new Error("The connection breaks"));
        sent = true;
        controller.enqueue(bytes.slice(0, cutAfter));
      },
    });
    return new Response(body, {
      headers: { "content-length": `${bytes.length}` },
    });
  }
}
