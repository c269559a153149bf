import { assertEquals, assertMatch } from "@std/assert";
import { Client, settings } from "../support/client_process.ts";
import { complete, events, progress } from "../support/service/behaviours.ts";
import { promptsOf, ReferenceService } from "../support/service/service.ts";

// What --timeout means where standard output is a pipe that nobody reads, for a while
// or for ever.

/** A run without an end, whose lines fill any pipe. */
const endless = events(function* () {
  for (;;) yield progress("x".repeat(10_000), "y");
});
const large = events([complete("x".repeat(1024 * 1024))]);

/** Longer than a busy machine takes to start a run, in seconds. */
const LIMIT = ["--timeout", "5"];

const unread =
  /agent-gateway: error: The time limit has passed, and nothing reads standard output\n$/;

/** When reading goes on, or that the reader goes away, and how the program ends. */
const ENDS: readonly (readonly [
  what: string,
  reader: "reads on after the limit" | "goes away then" | "never reads",
  args: readonly string[],
  input: string | Uint8Array,
  ...ends: readonly [code: number, stdout: RegExp, stderr: RegExp],
])[] = [
  [
    ...["--json", "reads on after the limit"] as const,
    ...[["--json", ...LIMIT, "-p", "hello"], "", 5] as const,
    ...[/"type":"error"[^\n]*"fate":"may go on"[^\n]*\n$/, /^$/] as const,
  ],
  [
    ...["--json", "goes away then"] as const,
    ...[["--json", ...LIMIT, "-p", "hello"], "", 1, /./, /^$/] as const,
  ],
  [
    ...["--json with a run without an end", "never reads"] as const,
    ...[["--json", ...LIMIT, "-p", "hello"], "", 5, /./, /^$/] as const,
  ],
  [
    ...["--json with lines that are rejected", "never reads"] as const,
    // A thread need not be created within the time limit.
    ["--json", "--timeout", "1", "--thread", "t"],
    new Uint8Array(20_000).map((_, i) => i % 2 ? 0x0a : 0xff),
    ...[1, /"type":"error"/, /^$/] as const,
  ],
  [
    ...["-p with a large reply", "never reads"] as const,
    [...LIMIT, "-p", "one", "-p", "two"],
    ...["", 1, /^x{1,999999}\n?$/, unread] as const,
  ],
  [
    ...["piped lines with a large reply", "never reads", LIMIT] as const,
    ...["one\ntwo\n", 1, /^x{1,999999}\n?$/, unread] as const,
  ],
];

for (const [what, reader, args, input, code, ...output] of ENDS) {
  Deno.test(`${what}, whose reader ${reader}, ends with ${code}`, async () => {
    await using service = ReferenceService.start();
    service.misbehave("stream", what.includes("large") ? large : endless);
    await using client = new Client({ args, env: settings(service) });
    client.stdout.pause();
    // It may end without reading all of its input.
    const written = client.write(input).catch(() => {});
    if (reader === "never reads") {
      if (typeof input === "string") await client.closeInput();
      assertEquals((await client.status).code, code);
    } else {
      // The program drops the stream when the limit has passed.
      const { ended } = await service.waitFor("stream");
      assertEquals(await ended, "dropped");
      if (reader === "goes away then") await client.stdout.close();
      await client.closeInput();
    }
    await written;
    client.stdout.resume();
    const { stdout, stderr, ...ends } = await client.output();
    assertEquals(ends.code, code);
    assertMatch(stdout, output[0]);
    assertMatch(stderr, output[1]);
    if (what.includes("large")) assertEquals(promptsOf(service), ["one"]);
  });
}
