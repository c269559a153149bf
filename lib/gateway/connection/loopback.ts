import { RequestError } from "../failure/failure.ts";
import type { RemoteOperation } from "../failure/fate.ts";
import { systemFault } from "./known_failures.ts";
import { MORE_FILES } from "../failure/words/connection_words.ts";

/** What a relay can lack on this machine. */
export type Obstacle = "descriptors" | "loopback";

/** How long a connection of the program to itself may take, in milliseconds. */
const LIMIT = 10_000;

/** The connection to itself that is under way. */
let trying: Promise<boolean> | undefined;

/** Whether the program may listen on loopback. Nobody is asked for the permission. */
export function mayListen(): boolean {
  const net = { name: "net", host: "127.0.0.1" } as const;
  return Deno.permissions.querySync(net).state === "granted";
}

/** Whether the program can connect to itself on loopback. */
export function reachesItself(): Promise<boolean> {
  trying ??= tryLoopback().finally(() => trying = undefined);
  return trying;
}

async function tryLoopback(): Promise<boolean> {
  try {
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { hostname, port } = listener.addr;
    const signal = AbortSignal.timeout(LIMIT);
    using _connection = await Deno.connect({ hostname, port, signal });
    return true;
  } catch {
    return false;
  }
}

/** The error of a program that cannot connect to itself on loopback. */
export function loopbackError(
  cause: unknown,
  operation: RemoteOperation,
  obstacle?: Obstacle,
): RequestError {
  if (!mayListen()) {
    return new RequestError({
      stage: "refused",
      reason: "A proxy is set, and Deno may not connect to 127.0.0.1",
      advice: "Run Deno with --allow-net=127.0.0.1 as well",
    }, { cause });
  }
  const isOutOfFiles = obstacle === "descriptors" ||
    systemFault(cause) === "no descriptors";
  return new RequestError({
    stage: "not sent",
    reason: isOutOfFiles
      ? "There are too many open files"
      : "The program cannot connect to itself on 127.0.0.1",
    advice: isOutOfFiles ? MORE_FILES : "Check whether a firewall forbids it",
    retry: operation === "stream run" ? "connection lost" : undefined,
  }, { cause });
}
