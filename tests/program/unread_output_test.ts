import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Client, settings } from "../support/client_process.ts";
import { parseJsonLines } from "../support/json_lines.ts";
import { complete, events, progress } from "../support/service/behaviours.ts";
import { ReferenceService } from "../support/service/service.ts";

// What --timeout means where standard output is a pipe that nobody reads, for a while
// or for ever.

/** A run without an end, whose lines fill any pipe. */
const endless = events(function* () {
  for (;;) yield progress("x".repeat(10_000), "y");
});

/** The time limit, in seconds: longer than a busy machine takes to start a run. */
const LIMIT = "5";

/** Resolves when the time limit has passed: the program drops the stream then. */
async function afterTheLimit(service: ReferenceService): Promise<void> {
  const { ended } = await service.waitFor("stream");
  assertEquals(await ended, "dropped");
}

Deno.test("--json ends with an error line if its reader reads on after the limit", async () => {
  await using service = ReferenceService.start();
  service.misbehave("stream", endless);
  await using client = new Client({
    args: ["--json", "--timeout", LIMIT, "-p", "hello"],
    env: settings(service),
  });
  client.stdout.pause();
  await afterTheLimit(service);
  client.stdout.resume();
  const { code, stdout, stderr } = await client.finish();
  assertEquals([code, stderr], [5, ""]);
  const last = parseJsonLines(stdout).at(-1);
  assertEquals([last?.type, last?.["fate"]], ["error", "may go on"]);
});

Deno.test("--json whose reader goes away after the limit ends without a word", async () => {
  await using service = ReferenceService.start();
  service.misbehave("stream", endless);
  await using client = new Client({
    args: ["--json", "--timeout", LIMIT, "-p", "hello"],
    env: settings(service),
  });
  client.stdout.pause();
  await afterTheLimit(service);
  await client.stdout.close();
  client.stdout.resume();
  const { code, stderr } = await client.finish();
  assertEquals([code, stderr], [1, ""]);
});

Deno.test("--json ends with 1 after the limit if nobody reads the errors of rejected lines", async () => {
  await using service = ReferenceService.start();
  await using client = new Client({
    // A thread need not be created within the time limit.
    args: ["--json", "--timeout", "1", "--thread", "t"],
    env: settings(service),
  });
  client.stdout.pause();
  const lines = new Uint8Array(20_000).map((_, i) => i % 2 ? 0x0a : 0xff);
  // It ends without reading all lines.
  const written = client.write(lines).catch(() => {});
  const { code } = await client.status;
  await written;
  client.stdout.resume();
  const { stderr } = await client.output();
  assertEquals([code, stderr], [1, ""]);
});

for (const mode of ["-p", "piped lines"]) {
  Deno.test(`a reply that nobody reads after the limit ends ${mode} with 1, and says so`, async () => {
    await using service = ReferenceService.start();
    service.misbehave("stream", events([complete("x".repeat(1024 * 1024))]));
    await using client = new Client({
      args: [
        "--timeout",
        LIMIT,
        ...mode === "-p" ? ["-p", "one", "-p", "two"] : [],
      ],
      env: settings(service),
    });
    client.stdout.pause();
    if (mode !== "-p") await client.write("one\ntwo\n");
    await client.closeInput();
    const { code } = await client.status;
    client.stdout.resume();
    const { stdout, stderr } = await client.output();
    assertEquals(code, 1);
    assert(/^x+$/.test(stdout.slice(0, -1)) && stdout.length < 1024 * 1024);
    assertStringIncludes(
      stderr,
      "agent-gateway: error: The time limit has passed, and nothing reads " +
        "standard output\n",
    );
    const runs = service.requests.filter(({ operation }) =>
      operation === "create run"
    );
    assertEquals(runs.length, 1);
  });
}
