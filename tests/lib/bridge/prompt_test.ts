import { assert, assertEquals } from "@std/assert";
import { replyUpdate } from "../../../lib/bridge/acp.ts";
import { Bridge } from "../../../lib/bridge/methods.ts";
import type { Asked } from "../../../lib/bridge/verbose_log.ts";
import { requestViolations } from "../../support/editor.ts";
import {
  createSessions,
  FakeGateway,
  FakePeer,
  notification,
  progressUpdate,
  prompt,
  request,
  response,
  updateOf,
} from "../../support/bridge_ends.ts";

Deno.test("a run's progress and reply are updates, in order, before the prompt's response (interface 4.2, 6)", async () => {
  const { bridge, gateway, peer, first: sessionId } = await createSessions(1);
  const ids = [];
  for (const id of [1, 2]) {
    bridge.receive(prompt(id, sessionId, "hello"));
    gateway.run.progress("plan", "started");
    gateway.run.progress("", "");
    gateway.run.complete("Hello!");
    await bridge.idle();

    const sent = peer.sent.splice(0);
    const thoughts = { sessionId, messageId: updateOf(sent[0]).messageId };
    const reply = { sessionId, messageId: updateOf(sent[2]).messageId };
    const type = "progress";
    assertEquals(sent, [
      progressUpdate(thoughts, { type, node: "plan", status: "started" }),
      progressUpdate(thoughts, { type, node: "", status: "" }),
      replyUpdate(reply, "Hello!"),
      { id, result: { stopReason: "end_turn" } },
    ]);
    ids.push(thoughts.messageId, reply.messageId);
  }
  assertEquals(new Set(ids).size, 4);
});

const SESSION_IDS = [
  "%s%20%",
  "{}{0}",
  `"'\``,
  "\\\\u0022\\",
  "$1$&$$",
  "🙂\0",
];
Deno.test("updates are whole lines of JSON, whatever their session is called", async () => {
  for (const sessionId of SESSION_IDS) {
    let text = "";
    const peer = new FakePeer();
    peer.sendInTurn = (lines) => {
      for (const line of lines) text += line;
      return Promise.resolve();
    };
    const gateway = new FakeGateway();
    const bridge = new Bridge({ gateway, peer });
    bridge.receive(request(0, "initialize"));
    bridge.receive(request(1, "session/resume", { sessionId }));
    bridge.receive(prompt(2, sessionId, "hello"));
    gateway.run.progress(sessionId, sessionId);
    gateway.run.complete(sessionId);
    await bridge.idle();

    const updates = text.trimEnd().split("\n").map((line) => JSON.parse(line));
    assertEquals(
      updates.map(({ params }) => [
        params.sessionId,
        params.update.content.text,
      ]),
      [
        [sessionId, `${sessionId}: ${sessionId}\n`],
        [sessionId, sessionId],
      ],
    );
  }
});

Deno.test("nothing of a run follows its cancellation", async () => {
  const { bridge, gateway, peer, first } = await createSessions(1);
  bridge.receive(prompt(1, first, "hello"));
  gateway.run.progress("plan", "started");
  await peer.count(1);

  bridge.receive(notification("session/cancel", { sessionId: first }));
  gateway.run.complete("Too late.");
  await bridge.idle();

  assertEquals(peer.sent.slice(1), [
    { id: 1, result: { stopReason: "cancelled" } },
  ]);
});

Deno.test("a prompt waits until the cancelled one before it was answered, and starts no run if it is cancelled meanwhile", async () => {
  const { bridge, gateway, peer, first } = await createSessions(1);
  const cancel = notification("session/cancel", { sessionId: first });
  bridge.receive(prompt(1, first, "one"));
  bridge.receive(cancel);
  bridge.receive(prompt(2, first, "two"));
  bridge.receive(cancel);
  bridge.receive(prompt(3, first, "three"));
  assertEquals(gateway.runs.length, 1);
  for (let i = 0; i < 100 && gateway.runs.length < 2; i++) await undefined;
  assertEquals(peer.order, [1, 2]);
  gateway.run.complete("Three.");
  await bridge.idle();

  assertEquals(peer.order, [1, 2, "Three.", 3]);
  assertEquals(gateway.runs.map(({ prompt }) => prompt), ["one", "three"]);
});

Deno.test("the trace context of a prompt goes along with its run, and with no other", async () => {
  const { bridge, gateway, first } = await createSessions(1);
  const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

  bridge.receive(request(1, "session/prompt", {
    sessionId: first,
    prompt: "one",
    _meta: { traceparent, tracestate: "a=1", other: "x" },
  }));
  gateway.run.complete("One.");
  await bridge.idle();
  bridge.receive(prompt(2, first, "two"));

  assertEquals(gateway.runs.map(({ options }) => options.headers), [
    { traceparent, tracestate: "a=1" },
    {},
  ]);
});

const READS = { clientCapabilities: { fs: { readTextFile: true } } };

/** A `session/prompt` with text and a link to each of these URIs. */
function promptWith(id: number, sessionId: string, ...uris: string[]) {
  return request(id, "session/prompt", {
    sessionId,
    prompt: [
      { type: "text", text: "explain" },
      ...uris.map((uri) => ({ type: "resource_link", name: "f", uri })),
    ],
  });
}

/** Lets the run start, which happens after the reads, and returns its prompt. */
async function startedPrompt(gateway: FakeGateway): Promise<string> {
  for (let i = 0; i < 100 && gateway.runs.length === 0; i++) await undefined;
  return gateway.run.prompt;
}

Deno.test("the files that a prompt links to are read through the editor, and follow its text", async () => {
  const { bridge, gateway, peer, first: sessionId } = await createSessions(
    1,
    READS,
  );

  bridge.receive(promptWith(1, sessionId, "file:///a", "file:///b"));
  const method = "fs/read_text_file";
  assertEquals(peer.sent, [
    { id: 1, method, params: { sessionId, path: "/a" } },
    { id: 2, method, params: { sessionId, path: "/b" } },
  ]);
  assertEquals(requestViolations(method, { sessionId, path: "/a" }), "");
  assertEquals(gateway.runs, []);
  bridge.receive(response(2, { content: "text of b\n" }));
  bridge.receive(response(1, { content: "text of a" }));

  assertEquals(
    (await startedPrompt(gateway)).split("\n\n").slice(1),
    [
      '<context uri="file:///a">\ntext of a\n</context>',
      '<context uri="file:///b">\ntext of b\n</context>',
    ],
  );
  gateway.run.complete("Done.");
  await bridge.idle();
  assertEquals(peer.sent.at(-1), { id: 1, result: { stopReason: "end_turn" } });
});

Deno.test("nothing is asked of an editor that does not offer to read files; its last initialize counts", async () => {
  const { bridge, gateway, peer, first } = await createSessions(1, READS);

  bridge.receive(request(1, "initialize", {}));
  bridge.receive(promptWith(2, first, "file:///a"));
  await peer.count(1);

  assertEquals(peer.order, [1]);
  assertEquals(gateway.run.prompt, "explain [f](file:///a)");
});

Deno.test("a cancellation in the middle of the reads starts no run", async () => {
  const { bridge, gateway, peer, first } = await createSessions(1, READS);
  bridge.receive(promptWith(7, first, "file:///a", "file:///b"));
  bridge.receive(response(1, { content: "a" }));

  bridge.receive(notification("session/cancel", { sessionId: first }));
  await bridge.idle();
  bridge.receive(response(2, { content: "late" }));
  await bridge.idle();

  assertEquals(peer.sent[2], { id: 7, result: { stopReason: "cancelled" } });
  assertEquals(gateway.runs, []);
});

Deno.test("the end of the input ends the reads: the prompt runs with its links", async () => {
  const asked: Asked[] = [];
  const gateway = new FakeGateway();
  const peer = new FakePeer();
  const log = { answered() {}, asked: (one: Asked) => void asked.push(one) };
  const bridge = new Bridge({ gateway, peer, log });
  bridge.receive(request(0, "initialize", READS));
  bridge.receive(request(1, "session/resume", { sessionId: "s" }));
  bridge.receive(promptWith(2, "s", "file:///a", "file:///b"));
  bridge.receive(response(2, { content: "b" }));

  const ended = bridge.end();
  const text = await startedPrompt(gateway);
  gateway.run.complete("Done.");
  await ended;

  assertEquals(text.split("\n\n").slice(1), [
    '<context uri="file:///b">\nb\n</context>',
  ]);
  assertEquals(peer.sent.at(-1), { id: 2, result: { stopReason: "end_turn" } });
  assertEquals(
    asked.map(({ method, sessionId, response }) => [
      method,
      sessionId,
      response?.id,
    ]),
    [["fs/read_text_file", "s", 2], ["fs/read_text_file", "s", undefined]],
  );
  assert(asked.every(({ milliseconds }) => milliseconds >= 0));
});
