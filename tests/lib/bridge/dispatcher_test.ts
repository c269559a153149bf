import { assertEquals, assertThrows } from "@std/assert";
import { RpcError } from "../../../lib/bridge/json_rpc.ts";
import { Sessions } from "../../../lib/bridge/sessions.ts";
import { play } from "../../support/bridge_transcript.ts";
import { FakeGateway } from "../../support/fake_gateway.ts";

Deno.test("a session is opened after initialize alone, which may come again, with any version (interface 3)", async () => {
  await play(`
    > initialize {}
    > session/new {}
    > 1 session/new {}
    < 1 -32600 Invalid request: call initialize before session/new
    > 2 session/resume thread-1
    < 2 -32600 Invalid request: call initialize before session/resume
    > 3 session/load thread-1
    < 3 -32600 Invalid request: call initialize before session/load
    > 4 initialize {"protocolVersion":2}
    < 4 1
    > 5 initialize {}
    < 5 1
    > 6 session/new
    < 6 thread-1`);
});

Deno.test("a request that cannot be answered gets an error, and a notification with wrong params is ignored (interface 7)", async () => {
  await play(`
    > 1 initialize {}
    < 1 1
    > 2 session/list {}
    < 2 -32601 Method not found: "session/list"
    > 3 toString
    < 3 -32601 Method not found: "toString"
    > 4 session/prompt other hello
    < 4 -32002 Session not found: "other"
    > 5 session/close other
    < 5 {}
    > 6 session/close {"sessionId":1}
    < 6 -32602 Invalid params: sessionId is not a string
    > 7 session/prompt {"prompt":"hello"}
    < 7 -32602 Invalid params: sessionId is not a string
    > 8 session/cancel []
    < 8 -32602 Invalid params: sessionId is not a string
    > 9 session/load
    < 9 -32602 Invalid params: sessionId is not a string
    > 10 session/resume ..
    < 10 -32602 Invalid params: sessionId cannot be the id of a chat
    > session/cancel
    > session/cancel []
    > session/cancel {"sessionId":1}
    > session/cancel other
    > $/cancel_request
    > $/cancel_request {"requestId":[]}`);
});

const THREAD_IDS: readonly (readonly [threadId: string, isUsed: boolean])[] = [
  ...[["t", true], ["!/%~..", true], ["x".repeat(200), true]] as const,
  ...[["x".repeat(201), false], ["two words", false]] as const,
  ...[["line\n", false], ["\x7f", false], ["ü", false]] as const,
];
Deno.test("a session is called like its thread, or by a UUID if that is no good id or in use", async () => {
  const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
  for (const [threadId, isUsed] of THREAD_IDS) {
    const gateway = new FakeGateway();
    gateway.creating = () => Promise.resolve(threadId);
    const sessions = new Sessions(gateway);
    const first = await sessions.create();
    const second = await sessions.create();
    await sessions.close(first.id);
    const third = await sessions.create();

    const ids = [first, second, third].map(({ id }) =>
      uuid.test(id) ? "UUID" : id
    );
    const used = isUsed ? threadId : "UUID";
    assertEquals<string[]>(ids, [used, "UUID", used]);
    assertEquals<string>(second.threadId, threadId);
  }
});

Deno.test("a session is opened by an id that is allowed in a path", () => {
  const sessions = new Sessions(new FakeGateway());
  const long = "x".repeat(1024);
  for (const id of ["ü 日本", long, "..."]) {
    assertEquals<string>(sessions.open(id).threadId, id);
  }
  for (const id of ["", ".", "\ud800", `${long}x`]) {
    assertThrows(() => sessions.open(id), RpcError, "cannot be the id");
  }
});

Deno.test("session/load sends the conversation again: prompts that failed or were cancelled too, no contents of files, no progress", async () => {
  const prompt = JSON.stringify({
    sessionId: "thread-1",
    prompt: [
      { type: "text", text: "one" },
      { type: "resource", resource: { uri: "file:///a", text: "secret" } },
    ],
  });
  const { messages } = await play(`
    > 1 initialize {"protocolVersion":1}
    < 1 1
    > 2 session/new
    < 2 thread-1
    > 3 session/load thread-1
    < 3 thread-1
    > 4 session/load thread-9
    < thread-9 agent_message_chunk: Earlier messages are not shown here.
    ~ 40
    < 4 thread-9
    > 5 session/prompt ${prompt}
    @ 1 thread-1 one [a](file:///a)\\n\\n<context uri=\\"file:///a\\">\\nsecret\\n</context>
    * 1 plan: started
    < thread-1 agent_thought_chunk: plan: started
    * 1 = One.
    < thread-1 agent_message_chunk: One.
    ~ 40
    < 5 end_turn
    < thread-1 session_info_update: one a
    > 6 session/prompt thread-1 two
    @ 2 thread-1 two
    * 2 ! no
    < 6 -32603 Internal error
    > 7 session/prompt thread-1 three
    @ 3 thread-1 three
    > session/cancel {"sessionId":"thread-1"}
    < 7 cancelled
    > 8 session/prompt thread-1 four
    @ 4 thread-1 four
    > 9 session/close thread-1
    < 8 cancelled
    < 9 {}
    > 10 session/load thread-1
    < thread-1 user_message_chunk: one [a](file:///a)
    < thread-1 agent_message_chunk: One.
    < thread-1 user_message_chunk: two
    < thread-1 user_message_chunk: three
    < thread-1 user_message_chunk: four
    ~ 40
    < 10 thread-1`);
  const ids = messages.map(({ params }) => params?.update.messageId);
  assertEquals(new Set(ids).size, 8); // one is missing, and one comes twice
});

Deno.test("of the sessions that were closed, 10,000 are remembered", async () => {
  const gateway = new FakeGateway();
  gateway.creating = () => Promise.resolve("thread 1");
  const sessions = new Sessions(gateway);
  const { id } = await sessions.create();
  const close = async (count: number) => {
    for (let i = 0; i < count; i++) {
      await sessions.close(sessions.open(`${count} ${i}`).id);
    }
  };
  await sessions.close(id);

  for (const count of [9_999, 9_998]) {
    await close(count);
    assertEquals(sessions.open(id).threadId, "thread 1");
    await sessions.close(id);
  }
  await close(10_000);
  assertEquals(sessions.open(id).threadId, id);
});

Deno.test("a connection is opened ahead when a session is opened again, and after each reply, but not after a failure", async () => {
  const { gateway } = await play(`
    > 1 initialize {}
    < 1 1
    > 2 session/new
    < 2 thread-1
    > 3 session/resume thread-1
    < 3 thread-1
    > 4 session/load thread-1
    < 4 thread-1
    > 5 session/prompt thread-1 good
    @ 1 thread-1 good
    * 1 = Hello!
    < thread-1 agent_message_chunk: Hello!
    ~ 40
    < 5 end_turn
    > 6 session/prompt thread-1 bad
    @ 2 thread-1 bad
    * 2 ! no
    < 6 -32603 Internal error`);
  assertEquals(gateway.prepared, 3);
});
