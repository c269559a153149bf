/**
 * The interface document as tables: a row is one start of the program, and begins with
 * the sections and rules that it holds. Limits, retries and messages, about which the
 * document is silent, are tested elsewhere.
 */

import { assertEquals } from "@std/assert";
import {
  type Call,
  callsTo,
  serve,
  testCall,
  type Told,
} from "../support/calls.ts";
import { Client, settings } from "../support/client_process.ts";
import { Editor, type Message } from "../support/editor.ts";
import {
  answer,
  body,
  complete,
  events,
  json,
  progress,
} from "../support/service/behaviours.ts";
import { GatedStream } from "../support/service/gated_stream.ts";
import { TEST_KEY } from "../support/service/service.ts";

const RUN = (prompt: string) =>
  `application/json ${
    JSON.stringify({ agentName: "the-brain", prompt, wait: false })
  }`;
const done = (text = "Done.") => events([complete(text)]);
const reply = (fields: Record<string, unknown>) =>
  events([{ event: "complete", ...fields }]);
const other = [{ role: "assistant", content: "other" }];

const hello = { stdin: "hello\n" };
const [K, T] = [TEST_KEY, `${TEST_KEY.slice(0, 4)}...${TEST_KEY.slice(-4)}`];

const CALLS: readonly (readonly [
  rules: string,
  how: Call,
  told: Told,
])[] = [
  ["1.2 to 1.4, 2, 4.1: two prompts on one thread", {
    stdin: 'hello\nsay "hi" é\n',
    runs: [done(), done()],
  }, {
    out: "Done.\nDone.\n",
    calls: [
      `POST /threads ${K}`,
      `POST /threads/t1/runs ${K} ${RUN("hello")}`,
      `GET /threads/t1/runs/r1/stream ${K} text/event-stream`,
      `POST /threads/t1/runs ${K} ${RUN('say "hi" é')}`,
      `GET /threads/t1/runs/r2/stream ${K} text/event-stream`,
    ],
  }],
  ["1.5: http would send the key in clear text", {
    args: ["-p", "hi"],
    env: { APP_API_KEY: K, APP_BASE_URL: "http://brain.example.com" },
  }, { code: 1, err: /https/ }],
  ...["--help", "-h"].map((flag) =>
    [`1, Command line: ${flag}, without a key`, { args: [flag], env: {} }, {
      out: /^Usage: agent-gateway/m,
      err: /^$/,
    }] as const
  ),
  ["1, Interactive 1: a banner with the masked key, then a thread", {
    thread: answer(400),
  }, { code: 1, err: RegExp(`^.*key ${T}\n[^]*The service answered 400`) }],
  ["1, Interactive 2: empty input sends nothing", {
    stdin: "\n   \nhello\n",
    runs: [done()],
  }, { out: "Done.\n", calls: 3 }],
  ...["exit", "quit", "EXIT", "Quit"].map((word) =>
    [`1, Interactive 3: ${word}`, { stdin: `${word}\n`, isOpen: true }, {
      calls: 1,
    }] as const
  ),
  [
    "1, Interactive 4: errors and progress go to standard error, and the loop goes on",
    {
      stdin: "one\ntwo\n",
      runs: [
        [json({ message: "too long" }, 413)],
        events([progress("plan", "started"), complete("Two.")]),
      ],
    },
    {
      code: 1,
      out: "Two.\n",
      err: /^agent-gateway: error: .*413.*too long[^]*^plan: started$/m,
    },
  ],
  ["2, Thread: without thread_id, the creation fails", {
    args: ["-p", "hi"],
    thread: json({ id: "t" }),
  }, { code: 1, out: "", calls: 1 }],
  ["2, Reply text selection 1 to 3, 9.1", {
    args: ["-q"],
    stdin: "a\nb\nc\nd\n",
    runs: [
      reply({ instructorState: { explanation: "one" }, messages: other }),
      reply({ messages: other }),
      reply({}),
      reply({
        instructorState: { explanation: "four", version: 7, answer: "no" },
        answer: "no",
        explanation: "no",
      }),
    ],
  }, { out: "one\nother\nRun completed.\nfour\n" }],
  [
    "4.1, Stream-reading 1 to 3: chunks are cut anywhere, and what is no JSON is ignored",
    {
      ...hello,
      runs: [
        body([
          'data: not JSON\ndata: {"event":"progress","node":"pläne","status":"a"}\ndata: {\n\ndata: {"event":"complete","instructorState":{"explanation":"Fin 🙂"}}\n',
        ], { chunkSize: 1 }),
      ],
    },
    { out: "Fin 🙂\n", err: /^pläne: a$/m },
  ],
  ["4.1, Stream-reading 5: complete ends the run", {
    ...hello,
    runs: [events([complete("Done."), progress("late", "x")])],
  }, { out: "Done.\n", err: /^(?![^]*late)/ }],
  ["4.1, Stream-reading 6: a stream that fails is an error", {
    ...hello,
    runs: [answer(400)],
  }, { code: 5, err: /^agent-gateway: error: .*400/m }],
  ...[["-p", "hi"], ["--bridge"]].map((args) =>
    [`5.3, 5.4: no key, ${args[0]}`, { args, env: {} }, {
      code: 1,
      out: "",
      err: /APP_API_KEY is not set/,
    }] as const
  ),
  ...[["sixteen-letters!", "sixt...ers!"], ["12345678", "[*]{4}"], [
    "123456789",
    "1234...6789",
  ]].map(([key = "", mask]) =>
    [`5.5: ${key.length} characters`, { env: { APP_API_KEY: key } }, {
      err: RegExp(`^.*key ${mask}\n`),
    }] as const
  ),
];

for (const [rules, how, told] of CALLS) {
  Deno.test(rules, () => testCall(how, told));
}

Deno.test("4.1, Stream-reading 4: progress is told while the run goes on", async () => {
  const stream = new GatedStream();
  await using service = serve({ runs: [stream.behaviour] });
  await using client = new Client({ env: settings(service) });
  await client.write("hello\n");
  stream.progress("plan", "started");
  await client.stderr.waitFor("plan: started\n");
  assertEquals(client.stdout.text, "");
  stream.complete("Done.");
  await client.stdout.waitFor("Done.\n");
});

Deno.test("5.2: .env in the current folder has a key; that of the environment precedes it", async () => {
  await using service = serve({ runs: [done(), done()] });
  const cwd = await Deno.makeTempDir();
  await Deno.writeTextFile(`${cwd}/.env`, `APP_API_KEY=${K}\n`);
  for (const env of [{}, { APP_API_KEY: "another-key" }]) {
    await using client = new Client({
      args: ["-q", "--base-url", service.url, "-p", "hi"],
      cwd,
      env,
    });
    await client.finish();
  }
  await Deno.remove(cwd, { recursive: true });
  const made = callsTo(service).filter((call) => /^POST \/threads /.test(call));
  assertEquals(made, [`POST /threads ${K}`, "POST /threads another-key"]);
});

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

const blocks = [{ type: "text", text: "hello" }];
const steps = events([
  progress("a", "1"),
  progress("a", "1"),
  progress("b", "2"),
  complete("Done."),
]);
const updates = ["a: 1", "a: 1", "b: 2"].map((step) =>
  `agent_thought_chunk ${step}`
);

/** What an editor sends, and what the bridge answers. */
const CONVERSATION: readonly (readonly [
  sent: string,
  params: unknown,
  ...told: readonly string[],
])[] = [
  ["{not json", undefined, "null -32700"],
  ["session/new", {}, "1 -32600"],
  ["initialize", undefined, '2 string {"agents":true}'],
  ["session/new", {}, '3 {"sessionId":"t1"}'],
  ["session/new", undefined, '4 {"sessionId":"t2"}'],
  [
    "session/prompt",
    { sessionId: "t1", prompt: "hello" },
    ...updates,
    "agent_message_chunk Done.",
    '5 {"stopReason":"end_turn"}',
  ],
  [
    "session/prompt",
    { sessionId: "t2", prompt: blocks },
    ...updates,
    "agent_message_chunk Done.",
    '6 {"stopReason":"end_turn"}',
  ],
  ["agents/list", {}, "7 the-brain"],
  ["session/other", {}, "8 -32601"],
  [
    "session/prompt",
    { sessionId: "of another process", prompt: "hello" },
    "9 -32002",
  ],
];

for (const flag of ["--bridge", "-b"]) {
  Deno.test(`1.3, 1.4, 2, 3, 4.2, 6, 7: a conversation with ${flag}`, async () => {
    await using service = serve({ runs: [steps, steps] });
    await using editor = new Editor({ env: settings(service), args: [flag] });
    for (const [sent, params] of CONVERSATION) {
      if (sent.startsWith("{")) await editor.sendLine(sent);
      await editor.response(
        sent.startsWith("{") ? null : await editor.send(sent, params),
      );
    }
    await editor.finish();
    assertEquals(
      editor.messages.map(line),
      CONVERSATION.flatMap(([, , ...told]) => told),
    );
    assertEquals(callsTo(service), [
      `POST /threads ${K}`,
      `POST /threads ${K}`,
      ...["t1", "t2"].flatMap((id, i) => [
        `POST /threads/${id}/runs ${K} ${RUN("hello")}`,
        `GET /threads/${id}/runs/r${i + 1}/stream ${K} text/event-stream`,
      ]),
    ]);
  });
}

Deno.test("7: a thread that cannot be created is an error of session/new", async () => {
  await using service = serve({ thread: json({}) });
  await using editor = new Editor({ env: settings(service) });
  await editor.request("initialize");
  assertEquals(
    typeof (await editor.request("session/new")).error?.message,
    "string",
  );
});
