/**
 * Calls of the program in a pipe, a row each. What the interface document says comes
 * first: those rows begin with its sections and rules. Which command lines are wrong is
 * in tests/lib/command_line_test.ts, and what each fate exits with in
 * fault_matrix_test.ts.
 */

import { assertEquals } from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import {
  type Call,
  callsTo,
  serve,
  testCall,
  type Told,
} from "../support/calls.ts";
import {
  Client,
  isNewDeno,
  runClient,
  settings,
} from "../support/client_process.ts";
import { Editor, type Message } from "../support/editor.ts";
import { unreachable } from "../support/faulty_service/service.ts";
import {
  answer,
  body,
  complete,
  events,
  hang,
  json,
  progress,
} from "../support/service/behaviours.ts";
import { GatedStream } from "../support/service/gated_stream.ts";
import {
  promptsOf,
  ReferenceService,
  TEST_KEY,
} from "../support/service/service.ts";

const KEY = TEST_KEY;
const said = (text: string) => events([complete(text)]);
const ended = (fields: Record<string, unknown>) =>
  events([{ event: "complete", ...fields }]);
const step = progress("plan", "started");
const refused = json({ message: "no such field" }, 400);
const other = [{ role: "assistant", content: "other" }];
const PROMPTS = ["one", "exit", "two\nlines", " -x ", "quit"];
const unread = ended({ messages: [{ speech: "Hi." }] });
/** A service that is busy for an hour. */
const busy = answer(429, "", { "retry-after": "3600" });
const INITIALIZE = '{"jsonrpc":"2.0","id":1,"method":"initialize"}\n';
const RUN = (prompt: string) =>
  `application/json ${
    JSON.stringify({ agentName: "the-brain", prompt, wait: false })
  }`;
/** Text that controls a terminal, or that is shown in another order. */
const HOSTILE = "\x1b[31;1mred\x1b[2J\x1b]0;title\x07\x1b]52;c;cm0=\x07" +
  "\x9b2J\x00\x07\x7f\u202etxt\u2066\x1b]0;never\x1b[";

type Row = readonly [name: string, how: Call, told: Told];

const CALLS: readonly Row[] = [
  ["1.2 to 1.4, 2, 4.1: two prompts on one thread", {
    stdin: 'hello\nsay "hi" é\n',
    runs: [said("Done."), said("Done.")],
  }, {
    out: "Done.\nDone.\n",
    calls: [
      `POST /threads ${KEY}`,
      `POST /threads/t1/runs ${KEY} ${RUN("hello")}`,
      `GET /threads/t1/runs/r1/stream ${KEY} text/event-stream`,
      `POST /threads/t1/runs ${KEY} ${RUN('say "hi" é')}`,
      `GET /threads/t1/runs/r2/stream ${KEY} text/event-stream`,
    ],
  }],
  ["1.5: http would send the key in clear text", {
    args: ["-p", "hi"],
    env: { APP_API_KEY: KEY, APP_BASE_URL: "http://brain.example.com" },
  }, { code: 1, err: /https/ }],
  ...[["--bridge", "--help"], ["-h"]].map((args): Row => [
    `1, Command line: ${args}, without a key, at most 40 lines of 80 columns`,
    { args, env: {} },
    {
      out:
        /^(?=[^]*\n\nUsage: agent-gateway \[OPTIONS\] \[-\]\n)(?=[^]*-b, --bridge)(?=[^]*--base-url URL)(?:.{0,80}\n){1,40}$/,
      err: /^$/,
    },
  ]),
  ["1, Command line: -b is bridge mode, whatever belongs to other modes", {
    args: ["-bq", "-b"],
    stdin: INITIALIZE,
  }, { out: /"capabilities":\{"agents":true\}/ }],
  ["1, Interactive 1: a banner, with the masked key, then a thread", {
    stdin: "hello\n",
    runs: [events([step, complete("1")])],
  }, {
    out: "1\n",
    err: RegExp(
      `^agent-gateway ${config.version}, agent the-brain, key test\\.\\.\\.cdef\n` +
        "service http://127\\S+\nthread t1\nplan: started\n$",
    ),
  }],
  ["1, Interactive 2: empty input sends nothing", {
    stdin: "\n   \nhello\n",
    runs: [said("Done.")],
  }, { out: "Done.\n", calls: 3 }],
  ...["exit", "quit", "EXIT", "Quit"].map((word): Row => [
    `1, Interactive 3: ${word} leaves with 0, whatever failed and follows`,
    {
      stdin: `one\nfails\n${word}\ntwo\n`,
      isOpen: true,
      runs: [said("1"), [answer(422)]],
    },
    { out: "1\n", prompts: ["one", "fails"] },
  ]),
  ["1, Interactive 4: errors and progress go to stderr, and the loop goes on", {
    stdin: "one\ntwo\n",
    runs: [
      [json({ message: "too long" }, 413)],
      events([step, complete("Two.")]),
    ],
  }, {
    code: 1,
    out: "Two.\n",
    err: /^agent-gateway: error: .*413.*too long[^]*^plan: started$/m,
  }],
  ["2, Thread: without thread_id, the creation fails", {
    args: ["-p", "hi"],
    thread: json({ id: "t" }),
  }, { code: 1, out: "", calls: 1 }],
  ["2, Reply text selection 1 to 3, 9.1", {
    args: ["-q"],
    stdin: "a\nb\nc\nd\n",
    runs: [
      ended({ instructorState: { explanation: "one" }, messages: other }),
      ended({ messages: other }),
      ended({}),
      ended({
        instructorState: { explanation: "four", version: 7, answer: "no" },
        answer: "no",
        explanation: "no",
      }),
    ],
  }, { out: "one\nother\nRun completed.\nfour\n" }],
  ["4.1, Stream-reading 1 to 3: any chunks, and what is no JSON is ignored", {
    args: ["-p", "hello"],
    runs: [
      body([
        'data: not JSON\ndata: {"event":"progress","node":"pläne","status":"a"}\ndata: {\n\ndata: {"event":"complete","instructorState":{"explanation":"Fin 🙂"}}\n',
      ], { chunkSize: 1 }),
    ],
  }, { out: "Fin 🙂\n", err: /^pläne: a$/m }],
  ["4.1, Stream-reading 5: complete ends the run", {
    args: ["-p", "hello"],
    runs: [events([complete("Done."), progress("late", "x")])],
  }, { out: "Done.\n", err: /thread t1\n$/ }],
  ["4.1, Stream-reading 6: a stream that fails is an error", {
    args: ["-p", "hello"],
    runs: [answer(400)],
  }, { code: 5, err: /^agent-gateway: error: .*400/m }],
  ...["-p=hi", "--bridge", "--json"].map((flag): Row => [
    `5.3, 5.4: no key, ${flag}`,
    { args: [flag], env: {} },
    {
      code: 1,
      out: "",
      err: /^agent-gateway: error: APP_API_KEY is not set: .*\n$/,
    },
  ]),
  ...[
    ["sixteen-letters!", "sixt...ers!"],
    ["12345678", "[*]{4}"],
    ["123456789", "1234...6789"],
  ].map(([key = "", mask]): Row => [
    `5.5: ${key.length} characters`,
    { env: { APP_API_KEY: key } },
    { err: RegExp(`^.*key ${mask}\n`) },
  ]),
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
  ...[["-q", "-p", "one", "-p", "two"], ["-q"]].map((args): Row => [
    `5, not 3, if the first prompt ran and the second did not: ${args}`,
    {
      args,
      stdin: args.length === 1 ? "one\ntwo\n" : "",
      runs: [said("1"), [busy]],
    },
    { code: 5, err: /error: Prompt 2 on thread t1/ },
  ]),
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
  ["--version", { args: ["--version"], env: {} }, {
    out: RegExp(
      `^agent-gateway ${config.version} \\(deno \\d+\\.\\d+\\.\\d+, \\w+(?:-\\w+){2,3}\\)\n$`,
    ),
    err: /^$/,
  }],
  ["--color=always styles replies and errors in a pipe, cleaned", {
    args: ["-q", "--color=always"],
    env: { APP_API_KEY: KEY, NO_COLOR: "1", TERM: "dumb" },
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
  [
    "replies go through a pipe byte for byte; progress and errors are a clean line each on standard error",
    {
      args: ["-p", "one", "-p", "two"],
      env: { APP_API_KEY: KEY, TERM: "xterm-256color" },
      runs: [
        events([progress(HOSTILE, HOSTILE), complete(HOSTILE)]),
        [json({ message: HOSTILE }, 400)],
      ],
    },
    {
      code: 1,
      out: `${HOSTILE}\n`,
      err:
        /^thread t1\nredtxt0;never: redtxt0;never\nagent-gateway: error: Prompt 2 on thread t1: The service answered 400: redtxt0;never\.\n$/m,
    },
  ],
  ...["GITHUB_ACTIONS", "TF_BUILD"].map((variable): Row => [
    `no line on standard error commands a runner of CI: ${variable}`,
    {
      args: ["-p", "one"],
      env: { APP_API_KEY: KEY, [variable]: "true" },
      runs: [
        events([progress("::stop-commands::x", "##[error]y"), complete("::z")]),
      ],
    },
    { out: "::z\n", err: /^: :stop-commands::x: # #\[error\]y\n$/m },
  ]),
  ...[["--check"], [], ["--bridge", "--verbose"]].map((args): Row => {
    const APP_BASE_URL = `${unreachable()}/${KEY}`;
    const code = [3, 1, 0][args.length] ?? 0;
    const shown = RegExp(`${APP_BASE_URL.slice(0, -KEY.length)}\\.\\.\\.`);
    return [
      `a key in the path of the base URL is left out: ${args}`,
      { args, env: { APP_API_KEY: KEY, APP_BASE_URL } },
      { code, [args[0] === "--check" ? "out" : "err"]: shown },
    ];
  }),
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
  Deno.test(`4.1, Stream-reading 4, ${mode}: each line is written as it happens, and the next prompt waits`, async () => {
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

Deno.test("5.2: .env in the current folder has a key; that of the environment precedes it; the last --base-url is used", async () => {
  await using service = serve({ runs: [said("Done."), said("Done.")] });
  const cwd = await Deno.makeTempDir();
  await Deno.writeTextFile(`${cwd}/.env`, `APP_API_KEY=${KEY}\n`);
  const unusable = "http://host.example";
  for (const env of [{}, { APP_API_KEY: "other", APP_BASE_URL: unusable }]) {
    const url = [`--base-url=${unusable}`, "--base-url", `${service.url}/`];
    await runClient({ args: ["-q", ...url, "-p", "hi"], cwd, env });
  }
  await Deno.remove(cwd, { recursive: true });
  const made = callsTo(service).filter((call) => /^POST \/threads /.test(call));
  assertEquals(made, [`POST /threads ${KEY}`, "POST /threads other"]);
});

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

/** What an editor sends, and what the bridge answers. */
const CONVERSATION = `> {no-json
null -32700
> session/new {}
1 -32600
> initialize
2 string {"agents":true}
> session/new {}
3 {"sessionId":"t1"}
> session/new
4 {"sessionId":"t2"}
> session/prompt {"sessionId":"t1","prompt":"hello"}
agent_thought_chunk a: 1
agent_thought_chunk a: 1
agent_thought_chunk b: 2
agent_message_chunk Done.
5 {"stopReason":"end_turn"}
> session/prompt {"sessionId":"t2","prompt":[{"type":"text","text":"hello"}]}
agent_thought_chunk a: 1
agent_thought_chunk a: 1
agent_thought_chunk b: 2
agent_message_chunk Done.
6 {"stopReason":"end_turn"}
> agents/list {}
7 the-brain
> session/other {}
8 -32601
> session/prompt {"sessionId":"of another process","prompt":"hello"}
9 -32002`.split("\n");

/** A message of the bridge in a line. */
function line({ id, method, params, result, error }: Message): string {
  const { sessionUpdate, content } = params?.update ?? {};
  if (method !== undefined) {
    return `${sessionUpdate} ${content?.text.trimEnd()}`;
  }
  const { capabilities, serverInfo, agents, _meta, ...rest } = result ?? {};
  if (serverInfo !== undefined) {
    return `${id} ${typeof serverInfo.name} ${JSON.stringify(capabilities)}`;
  }
  return `${id} ${error?.code ?? agents?.[0].id ?? JSON.stringify(rest)}`;
}

Deno.test("1.3, 1.4, 2, 3, 4.2, 6, 7: a conversation with the bridge", async () => {
  const [first, next] = [progress("a", "1"), progress("b", "2")];
  const steps = events([first, first, next, complete("Done.")]);
  await using service = serve({ runs: [steps, steps] });
  await using editor = new Editor({ env: settings(service) });
  for (const sent of CONVERSATION.filter((line) => line.startsWith("> "))) {
    const [method = "", params = "null"] = sent.slice(2).split(/ (?=\{)/);
    if (method === "{no-json") await editor.sendLine(method);
    const id = method === "{no-json"
      ? null
      : await editor.send(method, JSON.parse(params) ?? undefined);
    await editor.response(id);
  }
  await editor.finish();
  assertEquals(
    editor.messages.map(line),
    CONVERSATION.filter((line) => !line.startsWith("> ")),
  );
  assertEquals(callsTo(service), [
    `POST /threads ${KEY}`,
    `POST /threads ${KEY}`,
    ...["t1", "t2"].flatMap((id, i) => [
      `POST /threads/${id}/runs ${KEY} ${RUN("hello")}`,
      `GET /threads/${id}/runs/r${i + 1}/stream ${KEY} text/event-stream`,
    ]),
  ]);
});

/** The signals that end the program, and its exit codes. */
const CODES = {
  ...{ SIGHUP: 129, SIGINT: 130, SIGQUIT: 131, SIGTERM: 143, SIGUSR1: 138 },
} as const;
const ALL = Object.keys(CODES) as (keyof typeof CODES)[];

/** What runs, and which signals it gets; the bridge's are in bridge_life_cycle_test.ts. */
const RUNNING: readonly (readonly [
  args: string,
  input: string,
  operation: "create thread" | "stream" | undefined,
  signals: typeof ALL,
  key?: "",
])[] = [
  ["-q", "", "create thread", ALL],
  ["-q", "hello\n", "stream", ALL],
  ["--check", "", "create thread", ["SIGUSR1"]],
  ["--bridge", INITIALIZE, undefined, ["SIGUSR1"]],
  ["--bridge", INITIALIZE, undefined, ["SIGUSR1"], ""],
];

const ignore = Deno.build.os === "windows";
// Before Deno 2.9, a process may not signal itself.
const canKillItself = !ignore && await isNewDeno();

for (const [args, input, operation, signals, key = KEY] of RUNNING) {
  for (const signal of signals) {
    const place = operation ??
      (key === "" ? "a start without a key" : "a rest");
    Deno.test({
      name: `${signal} ends ${args} during ${place} with ${
        CODES[signal]
      }, without a word, and opens no debugger`,
      ignore,
      async fn() {
        await using service = ReferenceService.start();
        if (operation) service.misbehave(operation, hang());
        const env = { ...settings(service), APP_API_KEY: key };
        await using client = new Client({ args: [args], env });
        await client.write(input);
        const request = operation && await service.waitFor(operation);
        if (!request) await client.stdout.waitFor('"id":1');

        client.kill(signal);

        const { code, stdout, stderr } = await client.output();
        assertEquals(code, CODES[signal]);
        if (args === "-q") assertEquals(stdout, "");
        assertEquals(stderr.replace(/^.*APP_API_KEY is not set.*\n/, ""), "");
        assertEquals(await request?.ended, request && "dropped");
        // A shell ends its loop only after the signal itself. SIGQUIT writes a core.
        const isKilled = canKillItself && /^SIG(?:HUP|INT|TERM)$/.test(signal);
        const status = await client.status;
        assertEquals(status.signal, isKilled ? signal : null);
      },
    });
  }
}
