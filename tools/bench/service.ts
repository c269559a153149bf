import { Buffer } from "node:buffer";
import { runCommand } from "../run_command.ts";

/** The key that the service accepts. */
export const KEY = "bench-key-0123456789abcdef";

/** Where a service is reached. */
export interface Endpoint {
  readonly url: string;
  /** The file with the certificate to trust, if the service speaks TLS. */
  readonly authority?: string | undefined;
}

/** The environment of a program that uses a service. */
export function settings(
  { url, authority }: Endpoint,
): Record<string, string> {
  return {
    APP_API_KEY: KEY,
    APP_BASE_URL: url,
    ...(authority !== undefined &&
      { DENO_CERT: authority, NODE_EXTRA_CA_CERTS: authority }),
  };
}

/** How a service is spoken to. `h2` means HTTP/2, or HTTP/1.1 for others, over TLS. */
export type Protocol = "http" | "https" | "h2";

/** The service of `server.ts`, running in a process of its own. */
export interface LoadService extends Endpoint, AsyncDisposable {
  /** Makes the service prepare a stream, so that no measurement includes it. */
  prepare(shape: Shape): Promise<void>;
}

/**
 * Starts the service, and returns when it can be reached.
 *
 * @throws If there is no Node.js, or no openssl for TLS.
 */
export async function startService(
  protocol: Protocol = "http",
): Promise<LoadService> {
  const folder = await Deno.makeTempDir();
  const server = `${folder}/server.mjs`;
  await runCommand([
    ...[Deno.execPath(), "bundle", "-q", "--no-config"],
    ...["--output", server, `${import.meta.dirname}/server.ts`],
  ]);
  const files = protocol === "http" ? [] : await makeCertificate(folder);
  const child = new Deno.Command("node", {
    args: [server, KEY, protocol, ...files],
    stdin: "piped", // It ends when this process does.
    stdout: "piped",
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value = "" } = await reader.read();
  const url = value.trim();
  return {
    url,
    authority: files[0],
    async prepare(shape) {
      const response = await fetch(`${url}/threads/any/runs`, {
        method: "POST",
        headers: { "x-api-key": KEY },
        body: JSON.stringify({ prompt: JSON.stringify(shape) }),
      });
      await response.body?.cancel();
    },
    async [Symbol.asyncDispose]() {
      await child.stdin.close();
      await reader.cancel();
      await child.status;
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/**
 * Makes a certificate for 127.0.0.1, which is its own authority.
 *
 * @returns The files of the certificate and of its key.
 * @throws If there is no openssl.
 */
async function makeCertificate(
  folder: string,
): Promise<readonly [string, string]> {
  const files = [`${folder}/certificate.pem`, `${folder}/key.pem`] as const;
  await runCommand([
    ...["openssl", "req", "-x509", "-newkey", "ec", "-nodes"],
    ...["-days", "1", "-subj", "/CN=bench"],
    ...["-pkeyopt", "ec_paramgen_curve:prime256v1"],
    ...["-addext", "subjectAltName=IP:127.0.0.1"],
    ...["-addext", "basicConstraints=critical,CA:FALSE"],
    ...["-out", files[0], "-keyout", files[1]],
  ]);
  return files;
}

/**
 * The shape of a run's stream: `progress` events, then `complete`. The prompt that
 * starts the run contains it as JSON, so the service need not remember it.
 */
export interface Shape {
  /** How many `progress` events there are. */
  readonly events: number;
  /** The bytes of each of them on the wire. The default is the minimum. */
  readonly eventBytes?: number;
  /** The bytes of an HTTP chunk. The default is 64 KiB. */
  readonly chunkBytes?: number;
  /** How many times the same events are sent. The default is 1. */
  readonly repeat?: number;
  /**
   * Events per second. Each is a chunk of its own, and its status is the
   * {@linkcode clock} at the moment it was sent. By default all at once.
   */
  readonly rate?: number;
  /** How many streams with a rate begin together. The default is 1. */
  readonly together?: number;
}

/** A clock in milliseconds that all processes of a machine share. */
export function clock(): number {
  return performance.timeOrigin + performance.now();
}

/** How many events the stream holds, the last one included. */
export function countEvents({ events, repeat = 1 }: Shape): number {
  return events * repeat + 1;
}

/** How many bytes the stream holds, without HTTP's own. */
export function countBytes(shape: Shape): number {
  const { events, repeat = 1 } = shape;
  return progressEvent(shape).length * events * repeat + COMPLETE.length;
}

/** The bytes of a `progress` event. */
export function progressEvent(
  { eventBytes = 0 }: Pick<Shape, "eventBytes">,
  status = "started",
): Buffer {
  const [head, tail] = [
    'data: {"event":"progress","node":"plan","status":"',
    '"}\n\n',
  ];
  const length = eventBytes - head.length - tail.length;
  const words = " and the next step follows from it,";
  return Buffer.from(head + status.padEnd(length, words) + tail);
}

/** The bytes of the `complete` event. */
export const COMPLETE: Buffer = Buffer.from(
  'data: {"event":"complete","instructorState":{"explanation":"done"}}\n\n',
);

/** The `progress` events, cut into chunks wherever a chunk is full. */
export function chunksOf(shape: Shape): Buffer[] {
  const { events, chunkBytes = 64 * 1024 } = shape;
  const event = progressEvent(shape);
  const bytes = Buffer.alloc(event.length * events, event);
  const chunks = [];
  for (let start = 0; start < bytes.length; start += chunkBytes) {
    chunks.push(bytes.subarray(start, start + chunkBytes));
  }
  return chunks;
}
