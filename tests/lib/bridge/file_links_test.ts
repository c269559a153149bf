import { assert, assertEquals } from "@std/assert";
import type { Outgoing } from "../../../lib/bridge/json_rpc.ts";
import { type Asked, Bridge } from "../../../lib/bridge/methods.ts";
import {
  createSessions,
  type Ends,
  FakeGateway,
  FakePeer,
  notification,
  request,
  response,
} from "../../support/bridge_ends.ts";
import { requestViolations } from "../../support/acp_schema.ts";

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

/** The requests among the messages: their ids and paths. */
function reads(sent: readonly Outgoing[]): (readonly [number, unknown])[] {
  return sent.flatMap((message) => {
    if (!("method" in message) || !("id" in message)) return [];
    const { id, method, params } = message;
    assertEquals(requestViolations(method, params), "");
    return [[id, (params as { readonly path: unknown }).path] as const];
  });
}

/** Lets the run start, which happens after the reads, and returns its prompt. */
async function startedPrompt({ gateway }: Ends): Promise<string> {
  while (gateway.runs.length === 0) await undefined;
  return gateway.run.prompt;
}

Deno.test("the files that a prompt links to are read through the editor, and follow its text", async () => {
  const ends = await createSessions(1, READS);
  const { bridge, gateway, peer, first: sessionId } = ends;

  bridge.receive(promptWith(1, sessionId, "file:///a", "file:///b"));
  assertEquals(peer.sent, [
    {
      id: 1,
      method: "fs/read_text_file",
      params: { sessionId, path: "/a" },
    },
    {
      id: 2,
      method: "fs/read_text_file",
      params: { sessionId, path: "/b" },
    },
  ]);
  assertEquals(gateway.runs, []);
  bridge.receive(response(2, { content: "text of b\n" }));
  bridge.receive(response(1, { content: "text of a" }));

  assertEquals(
    await startedPrompt(ends),
    "explain[f](file:///a)[f](file:///b)" +
      '\n\n<context uri="file:///a">\ntext of a\n</context>' +
      '\n\n<context uri="file:///b">\ntext of b\n</context>',
  );
  gateway.run.complete("Done.");
  await bridge.idle();
  assertEquals(peer.sent.at(-1), { id: 1, result: { stopReason: "end_turn" } });
});

for (
  const params of [
    undefined,
    {},
    { clientCapabilities: { fs: { readTextFile: false } } },
  ]
) {
  Deno.test(`nothing is asked of an editor that initializes with ${JSON.stringify(params)}`, async () => {
    const ends = await createSessions(1, params);

    ends.bridge.receive(promptWith(1, ends.first, "file:///a"));

    assertEquals(ends.peer.sent, []);
    assertEquals(ends.gateway.run.prompt, "explain[f](file:///a)");
  });
}

Deno.test("nothing is asked for a link elsewhere, or for text that came with the prompt", async () => {
  const { bridge, gateway, peer, first: sessionId } = await createSessions(
    1,
    READS,
  );
  const prompt = [
    { type: "resource_link", uri: "https://host/a" },
    { type: "resource_link", uri: "file://host/a" },
    { type: "resource_link", uri: "file:///a" },
    { type: "resource", resource: { uri: "file:///a", text: "a" } },
  ];

  bridge.receive(request(1, "session/prompt", { sessionId, prompt }));
  while (gateway.runs.length === 0) await undefined;

  assertEquals(peer.sent, []);
});

Deno.test("a response with an error, garbage, or a second one leaves a link a link", async () => {
  const ends = await createSessions(1, READS);
  const { bridge, first } = ends;

  bridge.receive(
    promptWith(1, first, "file:///a", "file:///b", "file:///c"),
  );
  bridge.receive(response(1, undefined, { code: -32002, message: "no" }));
  bridge.receive(response(1, { content: "late" }));
  bridge.receive(response(2, { content: 7 }));
  bridge.receive(response(2, { content: "late" }));
  bridge.receive(response(99, { content: "asked by nobody" }));
  bridge.receive(response("3", { content: "another id" }));
  bridge.receive(response(3, { content: "c" }));

  assertEquals(
    await startedPrompt(ends),
    "explain[f](file:///a)[f](file:///b)[f](file:///c)" +
      '\n\n<context uri="file:///c">\nc\n</context>',
  );
});

for (
  const [name, cancel] of [
    [
      "session/cancel",
      (sessionId: string) => notification("session/cancel", { sessionId }),
    ],
    [
      "$/cancel_request",
      () => notification("$/cancel_request", { requestId: 7 }),
    ],
    [
      "session/close",
      (sessionId: string) => request(8, "session/close", { sessionId }),
    ],
  ] as const
) {
  Deno.test(`${name} in the middle of the reads answers "cancelled" and starts no run`, async () => {
    const { bridge, gateway, peer, first } = await createSessions(1, READS);
    bridge.receive(promptWith(7, first, "file:///a", "file:///b"));
    bridge.receive(response(1, { content: "a" }));

    bridge.receive(cancel(first));
    await bridge.idle();
    bridge.receive(response(2, { content: "late" }));
    await bridge.idle();

    assertEquals(peer.sent[2], { id: 7, result: { stopReason: "cancelled" } });
    assertEquals(gateway.runs, []);
  });
}

Deno.test("the end of the input ends the reads: the prompt runs with its links", async () => {
  const ends = await createSessions(1, READS);
  const { bridge, gateway, peer, first } = ends;
  bridge.receive(promptWith(1, first, "file:///a"));

  const ended = bridge.end();

  assertEquals(await startedPrompt(ends), "explain[f](file:///a)");
  gateway.run.complete("Done.");
  await ended;
  assertEquals(peer.sent.at(-1), { id: 1, result: { stopReason: "end_turn" } });
});

Deno.test("the last initialize counts for what the editor offers", async () => {
  const { bridge, gateway, peer, first } = await createSessions(1, READS);

  bridge.receive(request(1, "initialize", {}));
  bridge.receive(promptWith(2, first, "file:///a"));

  assertEquals(reads(peer.sent), []);
  assertEquals(gateway.runs.length, 1);
});

Deno.test("sessions read side by side, each under its own name", async () => {
  const { bridge, gateway, peer, first, second } = await createSessions(
    2,
    READS,
  );

  bridge.receive(promptWith(1, first, "file:///a"));
  bridge.receive(promptWith(2, second, "file:///a"));
  assertEquals(reads(peer.sent), [[1, "/a"], [2, "/a"]]);
  bridge.receive(response(2, { content: "second" }));
  while (gateway.runs.length < 1) await undefined;
  bridge.receive(response(1, { content: "first" }));
  while (gateway.runs.length < 2) await undefined;

  assertEquals(
    gateway.runs.map(({ threadId, prompt }) => [
      threadId,
      prompt.split("\n").at(-2),
    ]),
    [[second, "second"], [first, "first"]],
  );
});

Deno.test("onAsked tells of each request to the editor and its outcome", async () => {
  const asked: Asked[] = [];
  const gateway = new FakeGateway();
  const bridge = new Bridge({
    gateway,
    peer: new FakePeer(),
    onAsked: (one) => asked.push(one),
  });
  bridge.receive(request(0, "initialize", READS));
  bridge.receive(request(1, "session/resume", { sessionId: "s" }));
  bridge.receive(promptWith(2, "s", "file:///a", "file:///b"));
  bridge.receive(response(2, { content: "b" }));
  const ended = bridge.end();
  while (gateway.runs.length === 0) await undefined;
  gateway.run.complete("Done.");
  await ended;

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
