import { formatSums, sha256 } from "../../tools/checksums.ts";
import { gzip } from "../../tools/release/archive.ts";

/** A file of a release: its bytes, and its faults. */
export interface ReleaseFile {
  readonly bytes: Uint8Array;
  /** The number of bytes after which the connection breaks. */
  readonly cutAfter?: number;
  /** Instead of 200. */
  readonly status?: number;
}

/**
 * Releases on loopback, laid out as GitHub does: `latest/download/NAME` and
 * `download/vX.Y.Z/NAME`. Each holds the given files, plain and compressed, and
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
    ({ url }) => this.#answer(new URL(url).pathname),
  );
  /** The files by their paths. */
  readonly files: Map<string, ReleaseFile> = new Map();
  /** The requested paths, in order. */
  readonly requested: string[] = [];

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  /** Adds a file, and the sum of it alone, to the release in a folder. */
  async add(folder: string, name: string, content: Uint8Array): Promise<void> {
    const bytes = Uint8Array.from(content);
    const sums = formatSums(new Map([[name, await sha256(bytes)]]));
    this.files.set(`/${folder}/${name}`, { bytes });
    this.files.set(`/${folder}/${name}.gz`, { bytes: gzip(bytes) });
    const text = new TextEncoder().encode(sums);
    this.files.set(`/${folder}/SHA256SUMS`, { bytes: text });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }

  #answer(path: string): Response {
    this.requested.push(path);
    const file = this.files.get(path);
    if (file === undefined) return new Response("Not Found", { status: 404 });
    const { bytes, cutAfter, status = 200 } = file;
    const end = cutAfter ?? bytes.length;
    const body = ReadableStream.from(async function* () {
      yield bytes.slice(0, end);
      if (end < bytes.length) throw new Error("The connection breaks");
    }());
    const headers = { "content-length": `${bytes.length}` };
    return new Response(body, { status, headers });
  }
}
