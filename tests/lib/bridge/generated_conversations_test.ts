import fc from "fast-check";
import {
  type Action,
  Conversation,
  FAILURES,
  NOISE,
} from "../../support/bridge_conversation.ts";

/** Repeats a failure, whose report names the seed: `GENERATED_SEED=N deno task test`. */
const SEED = Deno.env.get("GENERATED_SEED");
const REPEATED = SEED === undefined ? {} : { seed: Number(SEED) };

const few = fc.nat(3);
const text = fc.oneof(
  fc.constantFrom("hello", "", " \n", "é日本👩‍💻", "\u2028\ufeff", "\ud800"),
  fc.string({ unit: "binary", maxLength: 10 }),
);
const status = fc.oneof(
  { arbitrary: text, weight: 6 },
  { arbitrary: fc.constant("x".repeat(70_000)), weight: 1 },
);
const failure = fc.nat(FAILURES.length - 1);
const METHODS: Readonly<Record<string, number>> = {
  "initialize": 1,
  "agents/list": 1,
  "session/new": 2,
  "session/prompt": 10,
  "session/cancel": 4,
  "session/close": 2,
  "session/resume": 2,
  "$/cancel_request": 3,
  "session/load": 1,
};
const call = fc.record({
  method: fc.oneof(
    ...Object.entries(METHODS).map(([method, weight]) => ({
      arbitrary: fc.constant(method),
      weight,
    })),
  ),
  session: few,
  prompt: few,
  text: fc.oneof(fc.constant("hello"), text),
  isNotification: fc.integer({ min: 0, max: 3 }).map((n) => n === 0),
});
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    arbitrary: fc.record({ call, cuts: fc.array(fc.nat(), { maxLength: 2 }) }),
    weight: 16,
  },
  { arbitrary: fc.record({ noise: fc.nat(NOISE.length - 1) }), weight: 2 },
  { arbitrary: fc.constant("rest"), weight: 6 },
  { arbitrary: fc.record({ steps: fc.nat(30) }), weight: 4 },
  { arbitrary: fc.record({ run: few, node: text, status }), weight: 6 },
  { arbitrary: fc.record({ run: few, reply: text }), weight: 3 },
  { arbitrary: fc.record({ run: few, failure }), weight: 1 },
  { arbitrary: fc.record({ thread: few }), weight: 5 },
  { arbitrary: fc.record({ thread: few, failure }), weight: 1 },
  { arbitrary: fc.record({ reads: fc.boolean() }), weight: 2 },
);

const ask = (method: string): Action => ({
  call: { method, session: 0, prompt: 0, text: "", isNotification: false },
  cuts: [],
});
const START: readonly Action[] = [
  ask("initialize"),
  ...Array(3).fill(ask("session/new")),
  "rest",
  ...Array(3).fill({ thread: 0 }),
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
