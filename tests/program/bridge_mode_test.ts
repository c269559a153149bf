import { assert, assertEquals } from "@std/assert";
import { afterEach, beforeEach, it } from "@std/testing/bdd";
import { settings } from "../support/client_process.ts";
import { Editor, READS_FILES } from "../support/editor.ts";
import {
  complete,
  events,
  hang,
  progress,
} from "../support/service/behaviours.ts";
import { GatedStream } from "../support/service/gated_stream.ts";
import { ReferenceService } from "../support/service/service.ts";

const TOO_LONG = {
  code: -32600,
  message: "Invalid request: the line is longer than 16777216 bytes",
};

let service: ReferenceService;
let editor: Editor;

beforeEach(() => {
  service = ReferenceService.start();
  editor = new Editor({ env: settings(service) });
});

afterEach(async () => {
  await editor[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

it("a prompt's progress and reply are updates before its response (interface 4.2, 6)", async () => {
  const sessionId = await editor.newSession();

  const response = await editor.prompt(sessionId, "hello");

  assertEquals(response.result, { stopReason: "end_turn" });
  assertEquals(editor.messages.at(-1), response);
  assertEquals(editor.steps(sessionId), [
    ...["plan: started", "recall: no earlier prompt"],
    ...["write: started", "write: done"],
  ]);
  assertEquals(editor.texts(sessionId, "agent_message_chunk"), [
    "Hello! I am the-brain. Ask me something, or what you said before.",
  ]);
  assertEquals((await editor.finish()).code, 0);
});

it("a session is a thread of its own, which remembers its prompts (interface 1.3, 2)", async () => {
  const first = await editor.newSession();
  const second = await editor.newSession();

  await editor.prompt(first, "one");
  await editor.request("session/prompt", {
    sessionId: first,
    prompt: "what did I say before?",
  });
  await editor.prompt(second, "what did I say before?");

  assertEquals(
    editor.texts(first, "agent_message_chunk").at(-1),
    [
      "Earlier on this thread you said:",
      "1. one",
    ].join("\n"),
  );
  assertEquals(editor.texts(second, "agent_message_chunk"), [
    "Nothing yet: this thread is new.",
  ]);
});

it("each line gets the answer it deserves, and no more (interface 7)", async () => {
  const lines = [
    "not JSON",
    "",
    "  \r",
    "[]",
    '[{"id":1,"method":"agents/list"}]',
    "42",
    '{"id":2,"method":7}',
    '{"id":{},"method":"agents/list"}',
    '{"id":3,"result":{}}',
    '{"method":"nope"}',
    '{"method":"_ext/event","params":{}}',
    '{"id":4,"method":"nope"}',
    '{"id":5,"method":"_ext/method"}',
    '{"id":6,"method":"session/new"}',
    '{"id":"ü","method":"session/prompt","params":{"sessionId":"x","prompt":"x"}}',
    '{"id":9223372036854775807,"method":"session/cancel"}',
    '{"id":null,"method":"nope"}',
  ];

  const { code, stdout, stderr } = await editor.finish(lines.join("\n"));

  const answers = stdout.trimEnd().split("\n").map((line) => [
    /"id":([^,]+)/.exec(line)?.[1],
    /"code":([^,]+)/.exec(line)?.[1],
  ]);
  assertEquals(answers, [
    ["null", "-32700"],
    ["null", "-32600"],
    ["null", "-32600"],
    ["null", "-32600"],
    ["2", "-32600"],
    ["null", "-32600"],
    ["4", "-32601"],
    ["5", "-32601"],
    ["6", "-32600"],
    ['"ü"', "-32002"],
    ["9223372036854775807", "-32602"],
    ["null", "-32601"],
  ]);
  assertEquals([code, stderr], [0, ""]);
});

it("a line over 16 MiB is an invalid request, and the next line works", async () => {
  const chunk = new Uint8Array(1024 * 1024).fill(0x61);

  await editor.write('{"id":1,"method":"');
  for (let i = 0; i < 16; i++) await editor.write(chunk);
  await editor.write('"}\n');
  const next = await editor.request("agents/list");

  assertEquals((await editor.response(null)).error, TOO_LONG);
  assertEquals(next.result.agents.length, 1);
});

for (const operation of ["create thread", "create run", "stream"] as const) {
  it(`a service that hangs at "${operation}" delays no other request`, async () => {
    const sessionId = await editor.newSession();
    service.misbehave(operation, hang());

    if (operation === "create thread") await editor.send("session/new");
    else await editor.send("session/prompt", { sessionId, prompt: "hello" });
    await service.waitFor(operation, operation === "create thread" ? 2 : 1);
    const list = await editor.request("agents/list");
    const other = await editor.newSession();
    const { result } = await editor.prompt(other, "hello");

    assertEquals(list.result.agents.length, 1);
    assertEquals(result, { stopReason: "end_turn" });
  });
}

it("the reply and the response come at once, though the stream stays open", async () => {
  const gate = new GatedStream();
  service.misbehave("stream", gate.behaviour);
  const sessionId = await editor.newSession();

  gate.send(complete("Done."));
  const { result } = await editor.prompt(sessionId, "hello");

  assertEquals(result, { stopReason: "end_turn" });
  assertEquals(editor.texts(sessionId, "agent_message_chunk"), ["Done."]);
  await gate.dropped;
});

interface Cancel {
  readonly name: string;
  send(editor: Editor, sessionId: string, id: number): Promise<unknown>;
}

const CANCELS: readonly Cancel[] = [
  {
    name: "the notification session/cancel",
    send: (editor, sessionId) => editor.notify("session/cancel", { sessionId }),
  },
  {
    name: "the request session/cancel",
    send: (editor, sessionId) =>
      editor.request("session/cancel", { sessionId }),
  },
  {
    name: "$/cancel_request",
    send: (editor, _, requestId) =>
      editor.notify("$/cancel_request", { requestId }),
  },
  {
    name: "session/close",
    send: (editor, sessionId) => editor.request("session/close", { sessionId }),
  },
];
for (const { name, send } of CANCELS) {
  it(`${name} closes the run's stream and answers its prompt "cancelled"`, async () => {
    const gate = new GatedStream();
    service.misbehave("stream", gate.behaviour);
    const sessionId = await editor.newSession();
    const id = await editor.send("session/prompt", { sessionId, prompt: "hi" });
    const { ended } = await gate.opened;
    gate.progress("plan", "started");
    await editor.update(sessionId, "plan: started");

    await send(editor, sessionId, id);
    const { result } = await editor.response(id);
    gate.progress("plan", "done");
    const next = await editor.prompt(sessionId, "next");

    assertEquals(result, { stopReason: "cancelled" });
    assertEquals(await ended, "dropped");
    await gate.dropped;
    if (name === "session/close") {
      assertEquals(next.error?.code, -32002);
    } else {
      assertEquals(next.result, { stopReason: "end_turn" });
    }
    assert(!editor.client.stdout.text.includes("plan: done"));
  });
}

it("a prompt right after a cancellation is never refused", async () => {
  const sessionId = await editor.newSession();

  for (let i = 1; i <= 30; i++) {
    const prompt = (prompt: string) => ({ sessionId, prompt });
    const streams = service.requests.filter(({ operation }) =>
      operation === "stream"
    ).length;
    const first = await editor.send("session/prompt", prompt("please hang"));
    if (i % 2 === 0) await service.waitFor("stream", streams + 1);
    await editor.notify("session/cancel", { sessionId });
    const second = await editor.send("session/prompt", prompt("hello"));

    const { result } = await editor.response(second);

    assertEquals(result, { stopReason: "end_turn" });
    const ids = editor.messages.map((message) => "id" in message && message.id);
    assert(ids.indexOf(first) < ids.indexOf(second));
    assertEquals((await editor.response(first)).result, {
      stopReason: "cancelled",
    });
  }
});

it("a long run can be cancelled, whatever memory was collected since its start", async () => {
  function* steps() {
    for (let i = 1; i <= 20_000; i++) yield progress("step", `${i}`);
  }
  service.misbehave(
    "stream",
    events(steps, { end: "hang", chunkSize: 65_536 }),
  );
  const sessionId = await editor.newSession();
  const id = await editor.send("session/prompt", { sessionId, prompt: "hi" });
  const { ended } = await service.waitFor("stream");
  await editor.update(sessionId, "step: 20000");

  await editor.notify("session/cancel", { sessionId });
  const { result } = await editor.response(id);

  assertEquals(result, { stopReason: "cancelled" });
  assertEquals(await ended, "dropped");
});

it("the trace context of a prompt travels on the two requests of its run", async () => {
  const sessionId = await editor.newSession();
  const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const good = { traceparent, tracestate: "vendor=1" };
  const bad = {
    traceparent: `${traceparent}\r\nx-api-key: other`,
    tracestate: "vendor=1",
  };

  for (const _meta of [good, bad]) {
    await editor.request("session/prompt", { sessionId, prompt: "hi", _meta });
  }

  assertEquals(
    service.requests.map(({ operation, headers }) => [
      operation,
      headers.get("traceparent"),
      headers.get("tracestate"),
    ]),
    [
      ["create thread", null, null],
      ["create run", traceparent, "vendor=1"],
      ["stream", traceparent, "vendor=1"],
      ["create run", null, null],
      ["stream", null, null],
    ],
  );
});

it("an answer of 100 MiB to a read leaves the link a link, and the prompt runs", async () => {
  const sessionId = await editor.newSession(READS_FILES);
  const uris = ["file:///a", "file:///b"];
  const id = await editor.sendPrompt(sessionId, "explain", ...uris);
  const [first, second] = await editor.questions(2);
  assert(first !== undefined && second !== undefined);
  const chunk = new Uint8Array(1024 * 1024).fill(0x61);

  await editor.write(`{"id":${first.id},"result":{"content":"`);
  for (let i = 0; i < 100; i++) await editor.write(chunk);
  await editor.write('"}}\n');
  await editor.answer(second, { content: "text of b" });
  await editor.refuse(first, "too long after all");
  const { result } = await editor.response(id);

  assertEquals(result, { stopReason: "end_turn" });
  assertEquals((await editor.response(null)).error, TOO_LONG);
  const { prompt } = JSON.parse((await service.waitFor("create run")).body);
  assert(prompt.includes("text of b") && !prompt.includes("aaa"), prompt);
});
