import fc from "fast-check";
import {
  type Action,
  Conversation,
  FAILURES,
} from "../../support/bridge_conversation.ts";

/** Repeats a failure, whose report names the seed: `GENERATED_SEED=N deno task test`. */
const SEED = Deno.env.get("GENERATED_SEED");
const REPEATED = SEED === undefined ? {} : { seed: Number(SEED) };

const text = fc.oneof(
  fc.constantFrom(
    "hello",
    "",
    " \n",
    "é日本👩‍💻",
    "\u2028\ufeff",
    "\ud800",
    "\0\x1b[31m",
  ),
  fc.string({ unit: "binary", maxLength: 10 }),
);
const wrong = fc.oneof(
  fc.constantFrom<unknown>(null, true, 0, 1.5, "", [], {}, [[]], { text: "x" }),
  text,
);
/** Mostly a value of the right type. */
const mostly = <T>(right: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof(
    { arbitrary: right, weight: 18 },
    { arbitrary: wrong, weight: 1 },
    { arbitrary: fc.constant(undefined), weight: 1 },
  );
const few = fc.nat(3);

/** Ids as JSON, two of each so that some are used twice; the last ones are invalid. */
const id = fc.oneof(
  { arbitrary: fc.nat(1000).map(String), weight: 6 },
  {
    arbitrary: fc.constantFrom(
      ...["0", "-0", "1", "1.0", "-1.5", "1e2", "1e21", "9007199254740993"],
      ...["-9223372036854775808", "18446744073709551615", "1e-400"],
      ...['""', '"1"', '"\\u0061"', '"a"', '"\\ud800"', '"__proto__"', "null"],
    ),
    weight: 3,
  },
  { arbitrary: fc.constantFrom("1e400", "true", "[]", '{"id":1}'), weight: 1 },
);
const session = mostly(
  fc.constantFrom("$0", "$1", "$2", "unknown", "__proto__"),
);
const block = fc.oneof(
  {
    arbitrary: fc.record({ type: fc.constant("text"), text: mostly(text) }),
    weight: 4,
  },
  fc.record({
    type: fc.constant("resource"),
    resource: mostly(fc.record({ uri: mostly(text), text: mostly(text) })),
  }),
  fc.record({
    type: fc.constant("resource_link"),
    name: mostly(text),
    uri: mostly(
      fc.oneof(text, fc.constantFrom("file:///a%20b/", "a/%ff", "b//")),
    ),
  }),
  fc.record({ type: mostly(fc.constantFrom("image", "audio", "toString")) }),
);
const prompt = fc.oneof(text, fc.array(mostly(block), { maxLength: 3 }));
const PARAMS: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  "initialize": fc.record({ protocolVersion: mostly(fc.constant(1)) }),
  "agents/list": wrong,
  "session/new": fc.constant({ cwd: "/", mcpServers: [] }),
  "session/prompt": fc.record({
    sessionId: session,
    prompt: mostly(prompt),
    _meta: mostly(fc.record({ traceparent: mostly(text), tracestate: text })),
  }),
  "session/cancel": fc.record({ sessionId: session }),
  "session/close": fc.record({ sessionId: session }),
  "session/resume": fc.record({
    sessionId: fc.oneof(
      session,
      fc.constantFrom("thread-1", "thread-5", "..", "ü", "x".repeat(1025)),
    ),
  }),
  "$/cancel_request": id.map((id) => ({ requestId: JSON.parse(id) })),
  "session/load": wrong,
  "__proto__": wrong,
  "": wrong,
};
const call = fc.oneof(
  ...Object.entries(PARAMS).map(([method, params]) => ({
    arbitrary: mostly(params).map((params) => ({ method, params })),
    weight:
      { "session/prompt": 20, "session/cancel": 6, "session/new": 4 }[method] ??
        2,
  })),
);
/** A valid call, possibly at the wrong moment. */
const plain = fc.constantFrom(
  ...["$0", "$1"].flatMap((sessionId) => [
    `"method":"session/prompt","params":{"sessionId":"${sessionId}","prompt":"hi"}}`,
    `"method":"session/prompt","params":{"sessionId":"${sessionId}","prompt":"hi"}}`,
    `"method":"session/cancel","params":{"sessionId":"${sessionId}"}}`,
    `"method":"session/close","params":{"sessionId":"${sessionId}"}}`,
    `"method":"session/resume","params":{"sessionId":"${sessionId}"}}`,
  ]),
  '"method":"$/cancel_request","params":{"requestId":@0}}',
  '"method":"$/cancel_request","params":{"requestId":@1}}',
  '"method":"$/cancel_request","params":{"requestId":"@0"}}',
  '"method":"session/new"}',
);
/** A line, its ids written in every way. */
const line = fc.oneof(
  {
    arbitrary: fc.tuple(call, id).map(([call, id]) =>
      `{"jsonrpc":"2.0","id":${id},${JSON.stringify(call).slice(1)}`
    ),
    weight: 20,
  },
  { arbitrary: call.map((call) => JSON.stringify(call)), weight: 6 },
  {
    arbitrary: fc.tuple(id, plain).map(([id, call]) => `{"id":${id},${call}`),
    weight: 16,
  },
  { arbitrary: plain.map((call) => `{${call}`), weight: 10 },
  {
    arbitrary: fc.tuple(
      id,
      fc.constantFrom(
        '"result":{}',
        '"result":{"content":"x"}',
        '"error":{}',
        '"method":1',
        '"method":null,"result":1',
        '"x":1',
      ),
    ).map(([id, rest]) => `{"id":${id},${rest}}`),
    weight: 3,
  },
  {
    arbitrary: fc.tuple(call, fc.nat(50)).map(([call, end]) =>
      JSON.stringify(call).slice(0, end)
    ),
    weight: 1,
  },
  {
    arbitrary: fc.array(call, { maxLength: 2 }).map((calls) =>
      JSON.stringify(calls)
    ),
    weight: 1,
  },
  { arbitrary: wrong.map((value) => JSON.stringify(value)), weight: 1 },
  {
    arbitrary: call.map((call) =>
      JSON.stringify({ id: 1, ...call, pad: "x".repeat(3000) })
    ),
    weight: 1,
  },
  {
    arbitrary: call.map((call) =>
      `\ufeff${JSON.stringify({ id: 2, ...call })}`
    ),
    weight: 1,
  },
  {
    arbitrary: fc.constantFrom("", " ", "\t\u00a0", "not JSON", "{", "nul"),
    weight: 1,
  },
  {
    arbitrary: fc.uint8Array({ maxLength: 8 })
      .map((bytes) => bytes.filter((byte) => byte !== 0x0a)),
    weight: 1,
  },
);
const status = fc.oneof(
  { arbitrary: text, weight: 6 },
  { arbitrary: fc.constant("x".repeat(70_000)), weight: 1 },
);
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    arbitrary: fc.record({
      line,
      end: fc.constantFrom("\n", "\n", "\n", "\r\n"),
      cuts: fc.array(fc.nat(), { maxLength: 2 }),
    }),
    weight: 16,
  },
  { arbitrary: fc.constant("rest"), weight: 6 },
  { arbitrary: fc.record({ steps: fc.nat(30) }), weight: 4 },
  { arbitrary: fc.record({ run: few, node: text, status }), weight: 6 },
  { arbitrary: fc.record({ run: few, reply: text }), weight: 3 },
  {
    arbitrary: fc.record({ run: few, failure: fc.nat(FAILURES.length - 1) }),
    weight: 1,
  },
  { arbitrary: fc.record({ thread: few }), weight: 5 },
  {
    arbitrary: fc.record({ thread: few, failure: fc.nat(FAILURES.length - 1) }),
    weight: 1,
  },
  { arbitrary: fc.record({ reads: fc.boolean() }), weight: 2 },
);

const ask = (request: string): Action => ({
  line: `{"jsonrpc":"2.0","id":"start",${request}}`,
  end: "\n",
  cuts: [],
});
const START: readonly Action[] = [
  ask('"method":"initialize"'),
  ask('"method":"session/new"'),
  ask('"method":"session/new"'),
  "rest",
  { thread: 0 },
  { thread: 0 },
  "rest",
];
const conversation = fc.tuple(
  fc.oneof({ arbitrary: fc.constant(START), weight: 5 }, fc.constant([])),
  fc.array(action, { minLength: 1, maxLength: 40, size: "max" }),
).map(([start, actions]) => [...start, ...actions]);

Deno.test("a bridge does in 10,000 generated conversations what a model of it does (interface 3, 4.2, 6 and 7)", async () => {
  await fc.assert(
    fc.asyncProperty(conversation, async (actions) => {
      const conversation = new Conversation();
      for (const action of actions) await conversation.perform(action);
      await conversation.end();
    }),
    { numRuns: 10_000, ...REPEATED },
  );
});
