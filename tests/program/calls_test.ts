/**
 * Calls of the program in a pipe, a row each, and the same of `-p`, `-` and `--json`.
 * What the interface document says is in interface_test.ts, which command lines are
 * wrong in tests/lib/command_line_test.ts, and what each fate exits with in
 * fault_matrix_test.ts.
 */

import { assertEquals } from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import { type Call, serve, testCall, type Told } from "../support/calls.ts";
import { Client, runClient, settings } from "../support/client_process.ts";
import {
  answer,
  complete,
  events,
  json,
  progress,
} from "../support/service/behaviours.ts";
import { GatedStream } from "../support/service/gated_stream.ts";
import {
  promptsOf,
  ReferenceService,
  TEST_KEY,
} from "../support/service/service.ts";

const said = (text: string) => events([complete(text)]);
const step = progress("plan", "started");
const refused = json({ message: "no such field" }, 400);
const PROMPTS = ["one", "exit", "two\nlines", " -x ", "quit"];
const unread = events([{ event: "complete", messages: [{ speech: "Hi." }] }]);
/** A service that is busy for an hour. */
const busy = answer(429, "", { "retry-after": "3600" });
const INITIALIZE = '{"jsonrpc":"2.0","id":1,"method":"initialize"}\n';

const CALLS: readonly (readonly [name: string, how: Call, told: Told])[] = [
  ["a banner with version, agent, masked key and service, then the thread", {
    stdin: "hello\n",
    runs: [events([step, complete("1")])],
  }, {
    out: "1\n",
    err: RegExp(
      `^agent-gateway ${config.version}, agent the-brain, key test\\.\\.\\.cdef\n` +
        "service http://127\\S+\nthread t1\nplan: started\n$",
    ),
  }],
  ...["exit", "QUIT"].map((word) =>
    [`${word} leaves with 0, whatever failed before and follows`, {
      stdin: `one\nfails\n${word}\ntwo\n`,
      isOpen: true,
      runs: [said("1"), [answer(422)]],
    }, { out: "1\n", prompts: ["one", "fails"] }] as const
  ),
  ["--quiet leaves out banner and progress, not errors and replies", {
    args: ["--quiet"],
    stdin: "a\nb\n",
    runs: [events([step, complete("1")]), events([step])],
  }, { code: 5, out: "1\n", err: /^agent-gateway: error: .+\n$/ }],
  ["a piped line that is not UTF-8 is rejected, and counts as a prompt", {
    args: ["-q"],
    stdin: Uint8Array.from("one\n\xff\nthree\n", (c) => c.charCodeAt(0)),
    runs: [said("1"), [refused]],
  }, {
    code: 1,
    out: "1\n",
    err:
      /^.*: Prompt 2 on thread t1: A line was rejected: .+\n.*: Prompt 3 on thread t1: The service answered 400: no such field\.\n$/,
    prompts: ["one", "three"],
  }],
  ["-p runs prompts in order on one thread, and leaves standard input alone", {
    args: [
      ...["-q", "-p", "one", "--prompt", "exit", "-p=two\nlines"],
      ...["--prompt= -x ", "-qp", "quit"],
    ],
    stdin: "not a prompt\n",
    isOpen: true,
    runs: PROMPTS.map(said),
  }, {
    out: PROMPTS.map((prompt) => `${prompt}\n`).join(""),
    err: /^$/,
    calls: 11,
    prompts: PROMPTS,
  }],
  ["- alone is the prompt", {
    args: ["-q", "-"],
    stdin: "one\ntwo\n",
    runs: [said("1")],
  }, { out: "1\n", err: /^$/, prompts: ["one\ntwo"] }],
  ["- after -p follows an empty line", {
    args: ["-q", "-p", "Why?", "-"],
    stdin: "a\nb\n",
    runs: [said("1")],
  }, { out: "1\n", err: /^$/, prompts: ["Why?\n\na\nb"] }],
  ["17 MiB are no prompt", {
    args: ["-"],
    stdin: new Uint8Array(17 * 1024 * 1024).fill(0x61),
  }, {
    code: 1,
    out: "",
    err: /^[^\n]*The prompt is larger than 16 MiB[^\n]*\n$/,
    calls: 0,
  }],
  ["--thread continues that thread and creates none", {
    args: ["--thread=my thread/1"],
    stdin: "one\n",
    runs: [said("1")],
  }, { out: "1\n", err: /^thread my thread\/1$/m, calls: 2 }],
  ["a reply that cannot be read is a warning", {
    args: ["-q", "-p", "hello"],
    runs: [unread],
  }, {
    out: "Run completed.\n",
    err:
      /^agent-gateway: warning: The run completed, but its reply could not be read: /,
  }],
  ["a reply that cannot be read is a note in JSON", {
    args: ["--json", "-p", "hello"],
    runs: [unread],
  }, {
    out:
      /"type":"reply","text":"Run completed\.",.*"note":"The run completed, but its reply could not be read: /,
    err: /^$/,
  }],
  ...[["-q", "-p", "one", "-p", "two"], ["-q"]].map((args) =>
    [`5, not 3, if the first prompt ran and the second did not: ${args}`, {
      args,
      stdin: args.length === 1 ? "one\ntwo\n" : "",
      runs: [said("1"), [busy]],
    }, { code: 5, err: /error: Prompt 2 on thread t1/ }] as const
  ),
  ["--json: failures have operation, status and fate, and input continues", {
    args: ["--json"],
    stdin: "one\n\ntwo\nthree\n",
    runs: [[refused], events([step]), said("Better.")],
  }, {
    code: 5,
    out:
      /^.*\n.*"type":"error","message":"The service answered 400: no such field\.","operation":"create run","status":400,"fate":"refused".*\n.*\n.*\n.*stream ended without a reply.*"operation":"stream run".*\n.*\n\{"type":"reply","text":"Better\."\}\n$/,
    err: /^$/,
    prompts: ["one", "two", "three"],
  }],
  ["--json: settings that are wrong are told on standard error", {
    args: ["--json", "-p", "6 * 7"],
    env: {},
  }, {
    code: 1,
    out: "",
    err: /^agent-gateway: error: APP_API_KEY is not set: .*\n$/,
  }],
  ["wrong usage is one line", { args: ["--json", "--nonsense"] }, {
    code: 2,
    out: "",
    err: /^[^\n]*"--nonsense"; see agent-gateway --help\n$/,
  }],
  ["wrong usage of the bridge is one line", { args: ["--bridge", "-p", "a"] }, {
    code: 2,
    out: "",
    err: /^[^\n]*--prompt[^\n]*; see agent-gateway --help\n$/,
  }],
  ["--help is at most 40 lines of 80 columns", {
    args: ["--bridge", "--help"],
    env: {},
  }, {
    out:
      /^(?=[^]*\n\nUsage: agent-gateway \[OPTIONS\] \[-\]\n)(?=[^]*-b, --bridge)(?=[^]*--base-url URL)(?:.{0,80}\n){1,40}$/,
    err: /^$/,
  }],
  ["--version", { args: ["--version"], env: {} }, {
    out: RegExp(
      `^agent-gateway ${config.version} \\(deno \\d+\\.\\d+\\.\\d+, \\w+(?:-\\w+){2,3}\\)\n$`,
    ),
    err: /^$/,
  }],
  ["-b runs bridge mode, whatever belongs to other modes", {
    args: ["-bq", "-b"],
    stdin: INITIALIZE,
  }, { out: /"capabilities":\{"agents":true\}/ }],
  ["--color=always styles replies and errors in a pipe, cleaned", {
    args: ["-q", "--color=always"],
    env: { APP_API_KEY: TEST_KEY, NO_COLOR: "1", TERM: "dumb" },
    stdin: "one\ntwo\n",
    runs: [
      said("# One\n\x1b[2Jtwo `code`"),
      [json({ message: "no\x1b[2J" }, 400)],
    ],
  }, {
    code: 1,
    out: "\x1b[1m# One\x1b[22m\ntwo \x1b[36m`\x1b[39mcode\x1b[36m`\x1b[39m\n",
    err: RegExp(
      "^agent-gateway: \x1b\\[31merror:\x1b\\[39m Prompt 2 on thread t1: " +
        "The service answered 400: no\\.\n$",
    ),
  }],
  ["--timeout ends a prompt, and names thread and run; the next one runs", {
    args: ["-q", "--timeout=5."],
    stdin: "one\ntwo\n",
    runs: [events([step], { end: "hang" }), said("Hello!")],
  }, {
    code: 5,
    out: "Hello!\n",
    err:
      /^agent-gateway: error: There was no reply within 5 s\. The run may still continue\. \(thread t1, run r1, request [-\da-f]{36}\)\n$/,
  }],
];

for (const [name, how, told] of CALLS) {
  Deno.test(name, () => testCall(how, told));
}

for (
  const [mode, stream, show, reply] of [
    ["lines", "stderr", "plan: started\n", "1\n"],
    ["--json", "stdout", '"started"}\n', '{"type":"reply","text":"1"}\n'],
  ] as const
) {
  Deno.test(`${mode}: each line is written as it happens, and the next prompt waits`, async () => {
    const gates = [new GatedStream(), new GatedStream()] as const;
    await using service = serve({
      runs: gates.map(({ behaviour }) => behaviour),
    });
    await using client = new Client({
      args: mode === "lines" ? [] : [mode],
      env: settings(service),
    });
    await client.write("one\ntwo\n");

    gates[0].progress("plan", "started");
    await client[stream].waitFor(show);
    assertEquals(promptsOf(service), ["one"]);
    gates[0].complete("1");
    await client.stdout.waitFor(reply);
    gates[1].complete("2");

    assertEquals((await client.finish()).code, 0);
    assertEquals(promptsOf(service), ["one", "two"]);
  });
}

Deno.test("-p passes on the trace context of its environment, with the requests of the run; a chat does not", async () => {
  await using service = ReferenceService.start();
  const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const context = { TRACEPARENT: trace, TRACESTATE: "vendor=1" };
  const env = { ...settings(service), ...context };
  await runClient({ args: ["-q", "-p", "hello"], env });
  await runClient({ args: ["-q"], env, stdin: "hello\n" });

  const headers = service.requests.map(({ headers }) =>
    `${headers.get("traceparent")} ${headers.get("tracestate")}`
  );
  const [none, some] = ["null null", `${trace} vendor=1`];
  assertEquals(headers, [none, some, some, none, none, none]);
});

Deno.test("the last --base-url is used, also over APP_BASE_URL", async () => {
  await using service = ReferenceService.start();
  const unusable = "http://host.example";
  const { code, stdout } = await runClient({
    args: [`--base-url=${unusable}`, "-q", `--base-url=${service.url}/`],
    env: { APP_API_KEY: TEST_KEY, APP_BASE_URL: unusable },
    stdin: "6 * 7\n",
  });
  assertEquals([code, stdout], [0, "6 * 7 = 42\n"]);
});
