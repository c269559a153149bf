import { assertEquals } from "@std/assert";
import { clientIn } from "../../../lib/bridge/capabilities.ts";
import { updatesFor } from "../../../lib/bridge/session_updates.ts";
import { testRows } from "../../support/tables.ts";

testRows(
  "updatesFor() shows {event} to clients with notices as: {with notices}; to others as: {without}",
  "event | with notices | without",
  `
{"type":"run","runId":"r"}                                       |                                           |
{"type":"wait","reason":"service busy","milliseconds":6000}      | notice info The service is busy; again in 6 s |
{"type":"reply","text":"Hi","isNotice":false}                    | agent_message_chunk Hi                    | agent_message_chunk Hi
{"type":"reply","text":"Hi","isNotice":false,"note":"Not read"}  | notice warning Not read; agent_message_chunk Hi | agent_message_chunk Hi
`,
  ({ event, ...expected }) => {
    const notices = { clientCapabilities: { session: { notices: {} } } };
    const shown = [notices, {}].map((params) =>
      updatesFor(
        JSON.parse(event),
        { thoughts: "t", reply: "r" },
        clientIn(params),
      ).map(({ sessionUpdate, severity, title, content }) =>
        [sessionUpdate, severity, title, content?.text].filter(Boolean).join(
          " ",
        )
      ).join("; ")
    );
    assertEquals(shown, [expected["with notices"], expected.without]);
  },
);
