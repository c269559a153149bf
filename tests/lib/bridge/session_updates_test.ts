import { assert, assertEquals } from "@std/assert";
import { updatesOf } from "../../../lib/bridge/session_updates.ts";

const update = updatesOf("s", () => {});
const progress = (label: string) => (
  { type: "progress", node: label, status: label } as const
);

Deno.test("updatesOf() cuts a node or status to a million characters, and none of them in two", () => {
  const rest = "x".repeat(999_999);
  for (
    const [label, shown] of [
      [`${rest}🙂`, `${rest}\ufffd`],
      [`${rest}yz`, `${rest}y`],
      [`${rest}y`, `${rest}y`],
    ] as const
  ) {
    const { params } = JSON.parse(update(progress(label)));
    const { node, status } = params.update._meta;
    assert(node === shown && status === shown);
  }
});

Deno.test("updatesOf() tells session, node and status as they are, however often and whatever they hold", () => {
  const labels = ["a", "b", "", '"\\\n', "$&", "\u2028\ud800", "é日👩‍💻"];
  for (const sessionId of ["thread-1", '%s{}"\\$1$&']) {
    const updateOf = updatesOf(sessionId, () => {});
    for (const node of labels) {
      for (const status of [...labels, "b"]) {
        const line = updateOf({ type: "progress", node, status });
        const { params: { update, ...others } } = JSON.parse(line);
        assertEquals(others, { sessionId });
        assertEquals(update._meta, { node, status });
        assertEquals(update.content.text, `${node}: ${status}  \n`);
      }
    }
  }
});
