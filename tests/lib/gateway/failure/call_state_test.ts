import { assertEquals } from "@std/assert";
import { CallState } from "../../../../lib/gateway/failure/call_state.ts";
import {
  type Fate,
  fateOf,
  type RemoteOperation,
  type Stage,
} from "../../../../lib/gateway/failure/fate.ts";
import { serviceId } from "../../../support/texts.ts";

/** The steps of a prompt, and what would have become of it after each. */
const STEPS: readonly (readonly [
  what: string,
  step: (state: CallState) => void,
  fate: Fate | undefined,
])[] = [
  ["at the start", () => {}, "not run"],
  ["a request begins", (state) => state.begin("a-1-1-1-1"), "not run"],
  ["it may be taken", (state) => state.markPerhapsTaken(), "may have run"],
  ["429 came", (state) => state.setStage("not taken"), "not run"],
  [
    "a connection is made too late",
    (state) => state.markPerhapsTaken(),
    "not run",
  ],
  ["it is sent again", (state) => state.begin("b-1-1-1-1"), "not run"],
  [
    "it may be taken again",
    (state) => state.markPerhapsTaken(),
    "may have run",
  ],
  ["the run has an id", (state) => state.startRun(serviceId("r")), "may go on"],
  ["its stream is asked for", (state) => state.begin("c-1-1-1-1"), "may go on"],
  ["that may be taken", (state) => state.markPerhapsTaken(), "may go on"],
  ["an event came", (state) => state.noteEvents(), "may go on"],
  ["the stream was lost", (state) => state.setStage("not sent"), "may go on"],
  ["the reply came", (state) => state.complete(), undefined],
];

Deno.test("a call knows at each step what has become of its prompt", () => {
  const state = new CallState("create run", { threadId: serviceId("t") });
  for (const [what, step, fate] of STEPS) {
    step(state);
    assertEquals(state.fate, fate, what);
  }
  assertEquals(state.ids, {
    threadId: serviceId("t"),
    runId: serviceId("r"),
    requestId: "c-1-1-1-1",
  });
});

const STAGES: readonly Stage[] = [
  "not sent",
  "not taken",
  "refused",
  "perhaps taken",
  "unknown run",
  "failed",
];

/** The fates of the stages, in their order, before and after events of the run. */
const FATES: Readonly<Record<RemoteOperation, readonly (readonly Fate[])[]>> = {
  "create thread": Array(2).fill(
    ["not run", "not run", "refused", "not run", "may have run", "failed"],
  ),
  "create run": Array(2).fill(
    ["not run", "not run", "refused", "may have run", "may have run", "failed"],
  ),
  "stream run": [
    [...Array(4).fill("may go on"), "may have run", "failed"],
    [...Array(4).fill("may go on"), "failed", "failed"],
  ],
};

for (
  const operation of ["create thread", "create run", "stream run"] as const
) {
  Deno.test(`fateOf() decides what each stage of "${operation}" means`, () => {
    const fates = [false, true].map((hasEvents) =>
      STAGES.map((stage) => fateOf(operation, stage, hasEvents))
    );
    assertEquals(fates, FATES[operation]);
  });
}
