import { assertEquals, assertMatch } from "@std/assert";
import { type ClientOutput, runClient } from "../support/client_process.ts";
import { environment, NAME, tls } from "../support/corporate_network.ts";
import { tunnels } from "../support/faulty_service/answers.ts";
import {
  goAway,
  type Part,
  partsOf,
  resetStream,
} from "../support/faulty_service/parts.ts";
import { FaultyService } from "../support/faulty_service/service.ts";

// The real program against connections that break in ways in which no server
// breaks them on purpose. The first connection creates the thread.

/** So much of a body arrives until an early answer has left, in bytes. */
const MORE = 64 * 1024;

/** A prompt that takes several frames and TCP segments. */
const PROMPT = "x".repeat(40_000);

/** What happens to a prompt that arrives. */
interface Fault {
  /** Where the connection breaks. The default is after the body. */
  readonly place?: Part["place"];
  readonly end?: "destroy" | "reset" | "close";
  /** A status that is answered before the whole body is there. */
  readonly status?: number;
  /** HTTP/2 frames that are sent before the end. */
  readonly frames?: (stream: number) => Uint8Array;
  /** Whether the service does not run the prompt. */
  readonly isRefused?: boolean;
}

/** How the program reaches the service. */
type Way = "http/1.1" | "h2" | "http/1.1 without TLS" | `${string} in a tunnel`;

interface Prompts {
  /** The faults that the first prompts meet, one each, in the order of their arrival. */
  readonly faults: readonly Fault[];
  /** How many prompts the user sends. By default each meets one fault. */
  readonly count?: number;
  /** The default takes several frames and TCP segments. */
  readonly prompt?: string;
}

/** Runs prompts, each on a connection of its own; tells how many the service took. */
async function runPrompts(
  way: Way,
  { faults, count = faults.length, prompt = PROMPT }: Prompts,
): Promise<ClientOutput & { readonly prompts: number }> {
  const protocol = way.startsWith("h2") ? "h2" : "http/1.1";
  const isPlain = way.endsWith("without TLS");
  const left = [...faults];
  let prompts = 0;
  await using service = await FaultyService.start(async (connection) => {
    for await (const part of partsOf(connection, protocol)) {
      const isPrompt = part.operation === "create run";
      const fault = isPrompt ? left[0] : undefined;
      if (part.place !== (fault?.place ?? "after the body")) continue;
      if (isPrompt && !fault?.isRefused) prompts++;
      if (isPrompt) left.shift();
      if (fault?.end === undefined && fault?.frames === undefined) {
        await part.answer();
      }
      if (fault?.status) await part.refuse(fault.status);
      // Without the relay, Deno 2.9.6 loses some answers that a reset follows at once.
      if (fault?.status && isPlain) await connection.gone;
      else if (fault?.status) await connection.holds(MORE);
      if (fault?.frames) await connection.write(fault.frames(part.stream));
      if (fault?.end) return connection[fault.end]();
    }
  }, isPlain ? {} : { tls, protocol });
  await using proxy = await FaultyService.start(tunnels(() => service.port));
  const env = way.endsWith("in a tunnel")
    ? environment(`https://${NAME}:${service.port}`, { HTTPS_PROXY: proxy.url })
    : environment(service.url);
  const stdin = `${prompt}\n`.repeat(count);
  const output = await runClient({ args: ["-q"], env, stdin });
  return { ...output, prompts };
}

/** Asserts that each prompt that meets one of the faults reaches the service once. */
async function runOnce(way: Way, faults: readonly Fault[]): Promise<void> {
  const { code, stdout, stderr, prompts } = await runPrompts(way, { faults });
  const unknown = "The run may have started, so the prompt was not retried.";
  const told = stderr.trimEnd().split("\n")
    .filter((line) => line.includes(unknown));
  assertEquals(
    [code, stdout, prompts, told.length],
    [5, "", faults.length, faults.length],
    stderr,
  );
}

const ENDS = (["after the head", "in the middle", "after the body"] as const)
  .flatMap((place): readonly Fault[] => [
    { place, end: "destroy" },
    { place, end: "reset" },
  ]);

for (
  const way of [
    ...["http/1.1", "http/1.1 in a tunnel"] as const,
    ...["h2", "h2 in a tunnel"] as const,
  ]
) {
  Deno.test(`${way}: a prompt whose connection is closed or reset after its head, in the middle or after its body runs once`, () =>
    runOnce(way, ENDS));
}

const [NO_ERROR, INTERNAL_ERROR, REFUSED_STREAM] = [0, 2, 7] as const;

const UNCLEAR: Readonly<Record<string, Fault>> = {
  "GOAWAY after the request": {
    frames: (stream) => goAway(stream, NO_ERROR),
    end: "close",
  },
  "GOAWAY with an error": { frames: () => goAway(0, INTERNAL_ERROR) },
  "REFUSED_STREAM": {
    frames: (stream) => resetStream(stream, REFUSED_STREAM),
  },
  "a reset without an error": {
    frames: (stream) => resetStream(stream, NO_ERROR),
  },
};

Deno.test(`HTTP/2: a prompt that is answered with ${Object.keys(UNCLEAR).join(", ")} runs once`, () =>
  runOnce("h2", Object.values(UNCLEAR)));

/** Texts by which the libraries of Deno say that nothing was sent, or not taken. */
const LIBRARY_TEXTS = `
client error (Connect): connection refused
error sending request for url (https://a.test/): client error (Connect): tcp connect error: Connection refused (os error 111)
tcp connect error: No route to host (os error 113)
tcp connect error: Connection refused (os error 111)") (os error 111)
dns error: failed to lookup address information: Name or service not known
invalid peer certificate: UnknownIssuer
received fatal alert: ProtocolVersion
tls handshake eof
Too many open files (os error 24)
Requires net access to a.test
Fetch failed: Requests to port 1 are blocked
connection closed
connection error received: not a result of an error
`;

Deno.test("HTTP/2: what a service that took a prompt writes into a GOAWAY decides nothing: the prompt runs once", () =>
  runOnce(
    "h2",
    LIBRARY_TEXTS.trim().split("\n").map((text) => (
      { frames: () => goAway(0, INTERNAL_ERROR, text) }
    )),
  ));

const NOT_TAKEN: Fault = {
  frames: () => goAway(0, NO_ERROR),
  isRefused: true,
};

Deno.test("HTTP/2: a prompt that one, two or three connections did not take (GOAWAY, RFC 9113, 6.8) is sent again, and runs once", async () => {
  const [no, yes] = [NOT_TAKEN, {}];
  const withDebugData: Fault = {
    frames: () => goAway(0, NO_ERROR, 'max_age "now")'),
    isRefused: true,
  };
  const { code, stdout, prompts } = await runPrompts("h2", {
    faults: [no, yes, no, withDebugData, yes, no, no, no, yes],
    count: 3,
  });

  assertEquals([code, stdout, prompts], [0, "Reply to run-1\n".repeat(3), 3]);
});

Deno.test("HTTP/2: a prompt that no connection took is an error that says so", async () => {
  const faults = Array(4).fill(NOT_TAKEN);
  const { code, stderr, prompts } = await runPrompts("h2", {
    faults,
    count: 1,
  });

  assertEquals([code, prompts], [3, 0]);
  assertMatch(
    stderr,
    /^agent-gateway: error: https:\S+ closed the connection before accepting the request; it may be restarting\. The prompt did not run\. Try again later\.\n$/,
  );
});

/** Refusals that are not repeated, and say nothing of a run that may have started. */
const STATUSES = [
  ...[400, 401, 402, 403, 404, 405, 406, 407, 409, 410, 411, 412, 413, 414],
  ...[415, 416, 417, 418, 421, 422, 423, 424, 426, 428, 431, 451],
];

for (const way of ["http/1.1 without TLS", "http/1.1", "h2"] as const) {
  Deno.test(`${way}: an answer of 4xx that comes before a large prompt is sent, and then the end, is told`, async () => {
    const { code, stderr } = await runPrompts(way, {
      prompt: "x".repeat(3_000_000),
      faults: STATUSES.map((status) => (
        { status, place: "in the middle", end: "destroy", isRefused: true }
      )),
    });

    const told = stderr.matchAll(/(?<= answered | \()4\d\d/g);
    assertEquals(Array.from(told, Number), STATUSES, stderr);
    assertEquals(code, 1);
  });
}
