import { Deadline } from "../../io.ts";
import { mayListenOnLoopback } from "../../settings.ts";
import type { Failure } from "../failure/failure.ts";
import type { RemoteOperation } from "../failure/fate.ts";
import { OUT_OF_FILES } from "./connection_failure.ts";
import { isOutOfFiles } from "./known_failures.ts";
import { safe } from "../../text.ts";

/** What a relay can lack on this machine. */
export type Obstacle = "descriptors" | "loopback";

/** How long a connection of the program to itself may take, in milliseconds. */
const LIMIT = 10_000;

/**
 * Tries what the program lacks for a connection to itself; `undefined` if nothing. Throws
 * the signal's reason if it is aborted.
 */
export async function findObstacle(
  outer: AbortSignal,
): Promise<Obstacle | undefined> {
  try {
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { hostname, port } = listener.addr;
    using deadline = new Deadline(LIMIT, outer);
    const { signal } = deadline;
    using _connection = await Deno.connect({ hostname, port, signal });
    return undefined;
  } catch (error) {
    outer.throwIfAborted();
    return isOutOfFiles(error) ? "descriptors" : "loopback";
  }
}

interface LoopbackFailureOptions {
  readonly operation: RemoteOperation;
  /** What was found to be lacking. */
  readonly obstacle?: Obstacle | undefined;
  /** Whether the HTTP client did not connect in time. */
  readonly isLate?: boolean;
}

/** Why the program cannot connect to itself on loopback. */
export function loopbackFailure(
  cause: unknown,
  { operation, obstacle, isLate = false }: LoopbackFailureOptions,
): Failure {
  if (!mayListenOnLoopback()) {
    return {
      stage: "refused",
      reason: safe`A proxy is set, and Deno may not connect to 127.0.0.1`,
      advice: safe`Run Deno with --allow-net=127.0.0.1 as well`,
    };
  }
  if (obstacle === "descriptors" || isOutOfFiles(cause)) return OUT_OF_FILES;
  // What was lacking may be there again.
  const mayWork = operation === "stream run" ||
    obstacle === undefined && !isLate;
  return {
    stage: "not sent",
    reason: safe`The program cannot connect to itself on 127.0.0.1`,
    advice: obstacle === "loopback"
      ? safe`Check whether a firewall forbids it`
      : safe`Check whether another program keeps it busy`,
    problem: mayWork ? "no connection" : undefined,
  };
}
