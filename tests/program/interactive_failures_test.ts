import { assertEquals, assertMatch } from "@std/assert";
import { Client, runClient, settings } from "../support/client_process.ts";
import {
  answer,
  type Behaviour,
  body,
  events,
  json,
  redirect,
} from "../support/service/behaviours.ts";
import { ReferenceService, TEST_KEY } from "../support/service/service.ts";
import { complete, progress } from "../support/service/stream_events.ts";
import {
  addStream,
  promptsOf,
  serveStreams,
} from "../support/scripted_service.ts";
import { QUIET_HOST, unreachable } from "../support/unreachable.ts";

/** The failures of an operation, and the error's text after `Cannot ...: `. */
type Failure = readonly [name: string, behaviour: Behaviour, message: RegExp];

const STATUSES: readonly Failure[] = [
  ["400", json({ message: "no such field" }, 400), / 400.*: no such field$/],
  ["401", answer(401), / 401, the API key was rejected .*APP_API_KEY/],
  ["403", answer(403), / 403, the API key was rejected .*APP_API_KEY/],
  ["404", json({ error: "gone" }, 404), / 404.*: gone$/],
  ["500", json({ detail: "out of order" }, 500), / 500.*: out of order$/],
  [
    "500 with an echo of the key",
    answer(500, TEST_KEY),
    / 500.*test\.\.\.cdef/,
  ],
  [
    "a redirect",
    redirect("https://evil.example/x"),
    /https:\/\/evil\.example;/,
  ],
];

const ANSWERS: readonly Failure[] = [
  ["an empty body", answer(200), /not a JSON object/],
  ["a body that is not JSON", answer(200, "nonsense"), /not a JSON object/],
  ["an array", json(["thread-1"]), /not a JSON object/],
  ["no id", json({ id: "x" }), /holds no (thread|run)_id/],
  ["an id that is null", json(ids(null)), /a malformed (thread|run)_id/],
  ["an id that is a number", json(ids(7)), /a malformed (thread|run)_id/],
  ["an id that is empty", json(ids("")), /an empty (thread|run)_id/],
  ["an id that is a folder", json(ids("..")), /a malformed (thread|run)_id/],
  [
    "a body that is cut off",
    body(["{"], { end: "break" }),
    /the connection to/,
  ],
  ...STATUSES,
];

const STREAMS: readonly Failure[] = [
  ["no event", events([]), /ended before the run completed/],
  [
    "progress alone",
    events([progress("a", "b")]),
    /ended before the run completed/,
  ],
  [
    "a connection that breaks",
    events([progress("a", "b")], { end: "break" }),
    /the connection to/,
  ],
  [
    "no stream but JSON",
    json({ reply: "x" }),
    /ended before the run completed/,
  ],
  ...STATUSES,
];

function ids(id: unknown): object {
  return { thread_id: id, run_id: id };
}

for (const [name, behaviour, message] of ANSWERS) {
  Deno.test(`a thread that is answered with ${name}: the error, exit 1 (interface 7)`, async () => {
    await using service = ReferenceService.start();
    service.misbehave("create thread", behaviour);

    const { code, stdout, stderr } = await runClient({
      args: ["-q"],
      env: settings(service),
      stdin: "hello\n",
    });

    assertEquals({ code, stdout }, { code: 1, stdout: "" });
    assertMatch(stderr, /^Error: Cannot create a thread: .+\n$/);
    assertMatch(stderr.trimEnd(), message);
    assertEquals(service.requests.length, 1);
  });
}

for (const [name, behaviour, message] of ANSWERS) {
  Deno.test(`a run that is answered with ${name}: the error, and the next prompt works (interface 7)`, async () => {
    await using service = serveStreams();
    service.misbehave("create run", behaviour);
    addStream(service, events([complete("Better.")]));

    const { code, stdout, stderr } = await runClient({
      args: ["-q"],
      env: settings(service),
      stdin: "one\ntwo\n",
    });

    assertEquals({ code, stdout }, { code: 1, stdout: "Better.\n" });
    assertMatch(stderr, /^Error: Cannot start a run: .+\n$/);
    assertMatch(stderr.trimEnd(), message);
    assertEquals(promptsOf(service), ["one", "two"]);
  });
}

for (const [name, behaviour, message] of STREAMS) {
  Deno.test(`a run that is streamed as ${name}: the error, and the next prompt works (interface 7)`, async () => {
    await using service = serveStreams(
      behaviour,
      events([complete("Better.")]),
    );

    const { code, stdout, stderr } = await runClient({
      args: ["-q"],
      env: settings(service),
      stdin: "one\ntwo\n",
    });

    assertEquals({ code, stdout }, { code: 1, stdout: "Better.\n" });
    assertMatch(stderr, /^Error: Cannot follow the run: .+\n$/);
    const [error = "", run] = stderr.trimEnd().split(" (thread ");
    assertMatch(error, message);
    assertEquals(run, "thread-1, run run-1)");
    assertEquals(promptsOf(service), ["one", "two"]);
  });
}

Deno.test("a service that is not there: the error with its address, exit 1", async () => {
  const url = unreachable();

  const { code, stdout, stderr } = await runClient({
    args: ["-q"],
    env: settings({ url }),
    stdin: "hello\n",
  });

  assertEquals({ code, stdout }, { code: 1, stdout: "" });
  assertMatch(stderr, /^Error: Cannot create a thread: .*refused.*\n$/);
  assertMatch(stderr, RegExp(new URL(url).host));
});

Deno.test("a service that has gone and come back: the error, and the next prompt works", async () => {
  await using first = ReferenceService.start({ hostname: QUIET_HOST });
  await using client = new Client({ args: ["-q"], env: settings(first) });
  await (await first.waitFor("create thread")).ended;
  const { port } = new URL(first.url);
  await first[Symbol.asyncDispose]();

  await client.write("one\n");
  await client.stderr.waitFor(/^Error: Cannot start a run: .*refused.*\n/);
  await using second = ReferenceService.start({
    hostname: QUIET_HOST,
    port: Number(port),
  });
  addStream(second, events([complete("Better.")]));
  await client.write("two\n");
  await client.stdout.waitFor("Better.\n");

  assertEquals((await client.finish()).code, 1);
});

for (
  const [stdin, code] of [
    ["hello\nhello\n\n", 0],
    ["please fail\nhello\n", 1],
    ["hello\nplease fail\n\n", 1],
    ["please fail\nhello\nexit\n", 0],
    ["please fail\nquit", 0],
  ] as const
) {
  Deno.test(`the input ${JSON.stringify(stdin)} exits ${code}: 1 if any run failed, but never after exit and quit`, async () => {
    await using service = ReferenceService.start();

    const output = await runClient({ env: settings(service), stdin });

    assertEquals(output.code, code);
  });
}
