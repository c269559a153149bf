import { assertEquals } from "@std/assert";
import { clientIn } from "../../../lib/bridge/capabilities.ts";
import { updatesFor } from "../../../lib/bridge/session_updates.ts";
import type { TurnEvent } from "../../../lib/gateway.ts";
import { unchanged } from "../../../lib/text.ts";
import { redacted, serviceId } from "../../support/texts.ts";

const NOTE = redacted("The reply could not be read");
const reply = {
  type: "reply",
  text: unchanged("Hi"),
  isNotice: false,
} as const;

/** Events, and their updates for clients that show notices, and for others. */
const EVENTS: readonly (readonly [TurnEvent, string, string])[] = [
  [{ type: "run", runId: serviceId("r") }, "", ""],
  [
    { type: "wait", reason: "service busy", milliseconds: 6000 },
    "notice info The service is busy; again in 6 s",
    "",
  ],
  [reply, "agent_message_chunk Hi", "agent_message_chunk Hi"],
  [
    { ...reply, note: NOTE },
    `notice warning ${NOTE}, agent_message_chunk Hi`,
    "agent_message_chunk Hi",
  ],
];
Deno.test("updatesFor() shows waits, and why a reply was not understood, to clients with notices alone", () => {
  const notices = { clientCapabilities: { session: { notices: {} } } };
  for (const [event, ...expected] of EVENTS) {
    const shown = [notices, {}].map((params) =>
      updatesFor(event, { thoughts: "t", reply: "r" }, clientIn(params)).map(
        // deno-lint-ignore no-explicit-any -- what a test expects, it asserts
        ({ sessionUpdate, severity, title, content }: any) =>
          [sessionUpdate, severity, title, content?.text].filter(Boolean)
            .join(" "),
      ).join(", ")
    );
    assertEquals(shown, expected);
  }
});
