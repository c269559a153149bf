import { assertEquals, assertRejects } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { RpcError } from "../../../lib/bridge/json_rpc.ts";
import { Sessions } from "../../../lib/bridge/sessions.ts";
import { play } from "../../support/bridge_transcript.ts";
import { FakeGateway } from "../../support/fake_gateway.ts";

/** Opens a session, for a client that speaks no ACP. */
const OPEN = `> 1 initialize {}
  < 1 1
  > 2 session/new
  < 2 thread-1`;

/** The same for one that speaks ACP and reads files. */
const OPEN_ACP =
  `> 1 initialize {"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true}}}
  < 1 1
  > 2 session/new
  < 2 thread-1`;

Deno.test("a run's progress and reply are updates, in order, before the prompt's response (interface 4.2, 6)", async () => {
  await play(`${OPEN}
    > 3 session/prompt thread-1 hello
    @ 1 thread-1 hello
    * 1 plan: started
    < thread-1 agent_thought_chunk: plan: started
    * 1 : x
    < thread-1 agent_thought_chunk: : x
    * 1 = Hello!
    < thread-1 agent_message_chunk: Hello!
    ~ 40
    < 3 end_turn`);
});

Deno.test("prompts of a session run one after the other, in the order in which they came", async () => {
  await play(`${OPEN}
    > 3 session/prompt thread-1 one
    @ 1 thread-1 one
    > 4 session/prompt thread-1 two
    > 5 session/prompt thread-1 three
    > 6 session/prompt thread-1
    < 6 -32602 Invalid params: prompt contains no text
    * 1 = One.
    < thread-1 agent_message_chunk: One.
    > 7 session/load thread-1
    < thread-1 user_message_chunk: one
    < thread-1 agent_message_chunk: One.
    < thread-1 user_message_chunk: two
    < thread-1 user_message_chunk: three
    ~ 40
    < 3 end_turn
    < 7 thread-1
    @ 2 thread-1 two
    * 2 ! no
    < 4 -32603 Internal error
    @ 3 thread-1 three
    > end
    * 3 = Three.
    < thread-1 agent_message_chunk: Three.
    ~ 40
    < 5 end_turn`);
});

Deno.test("in a conversation that is loaded, each reply follows its prompt", async () => {
  await play(`${OPEN}
    > 3 session/prompt thread-1 one
    @ 1 thread-1 one
    > 4 session/prompt thread-1 two
    * 1 = One.
    < thread-1 agent_message_chunk: One.
    ~ 40
    < 3 end_turn
    @ 2 thread-1 two
    * 2 = Two.
    < thread-1 agent_message_chunk: Two.
    ~ 40
    < 4 end_turn
    > session/close thread-1
    > 5 session/close thread-1
    < 5 {}
    > 6 session/load thread-1
    < thread-1 user_message_chunk: one
    < thread-1 agent_message_chunk: One.
    < thread-1 user_message_chunk: two
    < thread-1 agent_message_chunk: Two.
    ~ 40
    < 6 thread-1`);
});

for (const how of ["cancel", "close"]) {
  Deno.test(`session/${how} answers the prompt that runs, after its distance, and those that wait at once: they never run`, async () => {
    const [first, last] = how === "cancel"
      ? ["< 7 {}\n", ""]
      : ["", "\n< 7 {}"];
    await play(`${OPEN}
      > 3 session/prompt thread-1 one
      @ 1 thread-1 one
      * 1 plan: started
      < thread-1 agent_thought_chunk: plan: started
      > 4 session/prompt thread-1 two
      > 5 session/prompt thread-1 three
      > 6 session/prompt thread-1 four
      > 7 session/${how} thread-1
      ${first}< 4 cancelled
      < 5 cancelled
      < 6 cancelled
      ~ 40
      < 3 cancelled${last}
      > 8 session/resume thread-1
      < 8 thread-1
      > 9 session/prompt thread-1 five
      @ 2 thread-1 five`);
  });
}

Deno.test("$/cancel_request cancels the prompt that it names alone, whether it runs or waits", async () => {
  await play(`${OPEN}
    > 3 session/prompt thread-1 one
    @ 1 thread-1 one
    > "b" session/prompt thread-1 two
    > null session/prompt thread-1 three
    > $/cancel_request {"requestId":"b"}
    < "b" cancelled
    > $/cancel_request {"requestId":"b"}
    > $/cancel_request {"requestId":"3"}
    > $/cancel_request {}
    > $/cancel_request {"requestId":3}
    < 3 cancelled
    @ 2 thread-1 three
    > $/cancel_request {"requestId":null}
    < null cancelled`);
});

Deno.test("a session takes a prompt that runs, and 100 that wait with 16 MiB of text", async () => {
  const refused =
    "< X -32600 Invalid request: too many prompts are waiting in this chat (at most 100, and 16 MiB of text)";
  const many = Array.from({ length: 101 }, (_, i) => [
    `> ${i + 3} session/prompt thread-1 p${i}`,
    ...i === 0 ? ["@ 1 thread-1 p0"] : [],
  ]).flat();
  await play([
    OPEN,
    ...many,
    "> 200 session/prompt thread-1 more",
    refused.replace("X", "200"),
    '> $/cancel_request {"requestId":50}',
    "< 50 cancelled",
    "> 201 session/prompt thread-1 fits",
  ].join("\n"));

  const half = "é".repeat(4 * 1024 * 1024);
  await play([
    OPEN,
    ...[`> 3 session/prompt thread-1 ${half}`, `@ 1 thread-1 ${half}`],
    ...[4, 5].map((id) => `> ${id} session/prompt thread-1 ${half}`),
    ...["> 6 session/prompt thread-1 x", refused.replace("X", "6")],
  ].join("\n"));
});

Deno.test("a session takes prompts again as soon as those that wait are cancelled", async () => {
  const sessions = new Sessions(new FakeGateway());
  const session = sessions.open("thread-1");
  const run = () => {
    const never = new Promise<never>(() => {});
    const prompt = { requestId: 1, bytes: 1, run: () => never, cancel() {} };
    return Promise.race([session.run(prompt), setImmediate("taken")]);
  };
  for (let i = 0; i < 101; i++) await run();
  await assertRejects(run, RpcError, "too many prompts");
  session.cancel();
  assertEquals(await run(), "taken");
});

Deno.test("linked files are read when the prompt begins, and a cancellation takes back what is asked", async () => {
  const prompt = (...uris: readonly string[]) =>
    JSON.stringify({
      sessionId: "thread-1",
      prompt: uris.map((uri) => ({ type: "resource_link", name: "f", uri })),
    });
  await play(`${OPEN_ACP}
    > 3 session/prompt ${prompt("file:///a", "file:///b")}
    < 1 fs/read_text_file /a
    > 4 session/prompt ${prompt("file:///c")}
    > {"id":"1","result":{"content":"another id"}}
    > {"id":2,"result":{"content":"not asked yet"}}
    > {"id":null,"result":{"content":"no id"}}
    > {"id":1,"result":{"content":"A\\n"}}
    < 2 fs/read_text_file /b
    > $/cancel_request {"requestId":3}
    < $/cancel_request {"requestId":2}
    < 3 cancelled
    < 3 fs/read_text_file /c
    > {"id":2,"result":{"content":"late"}}
    > {"id":3,"error":{"code":1,"message":"gone"}}
    @ 1 thread-1 [f](file:///c)
    > 5 session/prompt ${prompt("file:///d", "file:///e")}
    * 1 = C.
    < thread-1 agent_message_chunk: C.
    ~ 40
    < 4 end_turn
    < thread-1 session_info_update: f
    < 4 fs/read_text_file /d
    > {"id":4,"result":{"content":"D"}}
    < 5 fs/read_text_file /e
    > end
    @ 2 thread-1 [f](file:///d) [f](file:///e)\\n\\n<context uri=\\"file:///d\\">\\nD\\n</context>
    * 2 = D.
    < thread-1 agent_message_chunk: D.
    ~ 40
    < 5 end_turn`);
});

Deno.test("nothing is asked of a client that does not offer to read files; its last initialize counts", async () => {
  await play(`${OPEN_ACP}
    > 3 initialize {}
    < 3 1
    > 4 session/prompt {"sessionId":"thread-1","prompt":[{"type":"resource_link","uri":"file:///a"}]}
    @ 1 thread-1 [a](file:///a)`);
});

Deno.test("a new session gets a title right after its first response end_turn, and never a second one", async () => {
  await play(`${OPEN_ACP}
    > 3 session/prompt thread-1 failed
    @ 1 thread-1 failed
    * 1 ! no
    < 3 -32603 Internal error
    > 4 session/prompt thread-1 first
    @ 2 thread-1 first
    * 2 = One.
    < thread-1 agent_message_chunk: One.
    ~ 40
    < 4 end_turn
    < thread-1 session_info_update: first
    > 5 session/prompt thread-1 second
    @ 3 thread-1 second
    * 3 = Two.
    < thread-1 agent_message_chunk: Two.
    ~ 40
    < 5 end_turn`);
});

Deno.test("no title is sent in a session that was loaded, resumed or closed", async () => {
  await play(`${OPEN_ACP}
    > 3 session/load old
    < old agent_message_chunk: Earlier messages are not shown here.
    ~ 40
    < 3 old
    > 4 session/prompt old hello
    @ 1 old hello
    * 1 = One.
    < old agent_message_chunk: One.
    ~ 40
    < 4 end_turn
    > 5 session/prompt thread-1 hello
    @ 2 thread-1 hello
    * 2 = Two.
    < thread-1 agent_message_chunk: Two.
    > 6 session/close thread-1
    ~ 40
    < 5 end_turn
    < 6 {}
    > 7 session/resume thread-1
    < 7 thread-1
    > 8 session/prompt thread-1 hello
    @ 3 thread-1 hello
    * 3 = Three.
    < thread-1 agent_message_chunk: Three.
    ~ 40
    < 8 end_turn`);
});

Deno.test("a chat that the service does not know any more cannot be loaded or resumed, until it is known again", async () => {
  await play(`${OPEN}
    > 3 session/prompt thread-1 hello
    @ 1 thread-1 hello
    * 1 ! gone
    < 3 -32603 (gone) No such thread. The chat may be gone: start a new one.
    > 4 session/load thread-1
    < 4 -32002 Session not found: "thread-1"
    > 5 session/prompt thread-1 failed
    @ 2 thread-1 failed
    * 2 ! no
    < 5 -32603 Internal error
    > 6 session/close thread-1
    < 6 {}
    > 7 session/resume thread-1
    < 7 -32002 Session not found: "thread-1"
    > 8 session/resume thread-2
    < 8 thread-2
    > 9 session/prompt thread-2 hello
    @ 3 thread-2 hello
    * 3 ! gone
    < 9 -32603 (gone) No such thread. The chat may be gone: start a new one.
    > 10 session/prompt thread-2 hello
    @ 4 thread-2 hello
    * 4 = Hello!
    < thread-2 agent_message_chunk: Hello!
    ~ 40
    < 10 end_turn
    > 11 session/resume thread-2
    < 11 thread-2`);
});

Deno.test("thoughts and reply have an id each, the response names the thread, the run and the request, and the trace context travels with the run", async () => {
  const prompt = JSON.stringify({
    sessionId: "thread-1",
    prompt: "hello",
    _meta: { traceparent: "00-1-2-01", tracestate: "vendor=1" },
  });
  const turn = (number: number) =>
    `> ${number + 2} session/prompt ${prompt}
    @ ${number} thread-1 hello
    * ${number} plan: started
    < thread-1 agent_thought_chunk: plan: started
    * ${number} : x
    < thread-1 agent_thought_chunk: : x
    * ${number} = Hello!
    < thread-1 agent_message_chunk: Hello!
    ~ 40
    < ${number + 2} end_turn`;
  const { gateway, messages } = await play(`${OPEN}\n${turn(1)}\n${turn(2)}`);

  const headers = { traceparent: "00-1-2-01", tracestate: "vendor=1" };
  assertEquals(gateway.run.options.headers, headers);
  assertEquals(messages.at(-1)?.result._meta, {
    threadId: "thread-1",
    runId: "run-2",
    requestId: "0-0-0-0-2",
  });
  const updates = messages.flatMap(({ params }) => params?.update ?? []);
  const [first, second] = updates;
  assertEquals(first._meta, { node: "plan", status: "started" });
  assertEquals(first.messageId, second.messageId);
  const ids = new Set(updates.map(({ messageId }) => messageId));
  assertEquals([updates.length, ids.size], [6, 4]);
});

Deno.test("nothing of a run follows its cancellation, also if the client did not read", async () => {
  const status = "y".repeat(16_000);
  const shown = `< thread-1 agent_thought_chunk: x: ${status}`;
  await play([
    OPEN,
    ...["> 3 session/prompt thread-1 hello", "@ 1 thread-1 hello", "~ pause"],
    ...Array(20).fill(`* 1 x: ${status}`),
    ...["> session/cancel thread-1", "* 1 = Too late.", "~ resume"],
    ...Array(9).fill(shown), // with _meta, more than 256 KiB
    ...["~ 40", "< 3 cancelled"],
  ].join("\n"));
});
