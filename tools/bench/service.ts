import { runCommand } from "../run_command.ts";

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
    APP_API_KEY: "bench-key-0123456789abcdef",
    APP_BASE_URL: url,
    ...(authority !== undefined && {
      DENO_CERT: authority,
      NODE_EXTRA_CA_CERTS: authority,
      CURL_CA_BUNDLE: authority,
    }),
  };
}

/** How a service is spoken to. `h2` means HTTP/2, or HTTP/1.1 for others, over TLS. */
export type Protocol = "http" | "https" | "h2";

/** Where a service runs. The default is this machine, on loopback. */
export interface Place {
  readonly address: string;
  /** A command that runs the rest of a command line there. */
  readonly startedBy: readonly string[];
}

const LOOPBACK = { address: "127.0.0.1", startedBy: [] };

/**
 * Starts `server.mjs`, and returns when it can be reached.
 *
 * @throws If there is no Node.js, or no openssl for TLS.
 */
export async function startService(
  protocol: Protocol = "http",
  { address, startedBy }: Place = LOOPBACK,
): Promise<Endpoint & AsyncDisposable> {
  const folder = await Deno.makeTempDir();
  const files = protocol === "http"
    ? []
    : await makeCertificate(folder, address);
  const server = `${import.meta.dirname}/server.mjs`;
  const [program = "", ...args] = [...startedBy, "node", server, address];
  const child = new Deno.Command(program, {
    args: [...args, protocol, ...files],
    stdin: "piped", // It ends when this process does.
    stdout: "piped",
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value = "" } = await reader.read();
  return {
    url: value.trim(),
    authority: files[0],
    async [Symbol.asyncDispose]() {
      await child.stdin.close();
      await reader.cancel();
      await child.status;
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/**
 * Makes a self-signed certificate for an address.
 *
 * @returns The files of the certificate and of its key.
 * @throws If there is no openssl.
 */
async function makeCertificate(
  folder: string,
  address: string,
): Promise<readonly [string, string]> {
  const files = [`${folder}/certificate.pem`, `${folder}/key.pem`] as const;
  await runCommand([
    ...["openssl", "req", "-x509", "-newkey", "ec", "-nodes"],
    ...["-days", "1", "-subj", "/CN=bench"],
    ...["-pkeyopt", "ec_paramgen_curve:prime256v1"],
    ...["-addext", `subjectAltName=IP:${address}`],
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
   * Events per second. Each is a chunk of its own, and its status is the time at
   * which it was sent, in milliseconds since 1970. By default all at once.
   */
  readonly rate?: number;
  /** How many streams with a rate begin together. The default is 1. */
  readonly together?: number;
}

/** The bytes of the smallest event. */
export const SMALLEST_EVENT = 61;

/** How many events the stream holds, the last one included. */
export function countEvents({ events, repeat = 1 }: Shape): number {
  return events * repeat + 1;
}
