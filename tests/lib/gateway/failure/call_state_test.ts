import { assertEquals } from "@std/assert";
import { CallState } from "../../../../lib/gateway/failure/call_state.ts";
import { fateOf, type Stage } from "../../../../lib/gateway/failure/fate.ts";
import { testRows } from "../../../support/tables.ts";
import { redacted, serviceId } from "../../../support/texts.ts";

Deno.test("a call knows at each step what has become of its prompt", () => {
  const state = new CallState("create run", { threadId: serviceId("t") });
  const fates = [
    () => {},
    () => state.begin(redacted("a")),
    () => state.markPerhapsTaken(),
    () => state.setStage("not taken"),
    () => state.markPerhapsTaken(), // A connection is reported too late.
    () => state.begin(redacted("b")),
    () => state.markPerhapsTaken(),
    () => state.startRun(serviceId("r")),
    () => state.begin(redacted("c")),
    () => state.noteEvents(),
    () => state.setStage("not sent"),
    () => state.complete(),
  ].map((step) => {
    step();
    return state.fate ?? "complete";
  });
  assertEquals(fates, [
    ...["not run", "not run", "may have run", "not run", "not run"],
    ...["not run", "may have run", "may go on", "may go on", "may go on"],
    ...["may go on", "complete"],
  ]);
  assertEquals(state.ids, {
    ...{ threadId: serviceId("t"), runId: serviceId("r") },
    requestId: redacted("c"),
  });
});

testRows(
  'fateOf() decides what the stage "{stage}" means',
  "stage | create thread | create run | stream run | after events",
  `
not sent      | not run       | not run      | may go on    | may go on
not taken     | not run       | not run      | may go on    | may go on
refused       | refused       | refused      | may go on    | may go on
perhaps taken | not run       | may have run | may go on    | may go on
unknown run   | may have run  | may have run | may have run | failed
failed        | failed        | failed       | failed       | failed
`,
  (row) => {
    const stage = row.stage as Stage;
    for (
      const operation of ["create thread", "create run", "stream run"] as const
    ) {
      assertEquals(fateOf(operation, stage, false), row[operation], operation);
    }
    assertEquals(fateOf("stream run", stage, true), row["after events"]);
  },
);
