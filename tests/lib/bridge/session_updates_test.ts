import { assert } from "@std/assert";
import { updatesOf } from "../../../lib/bridge/session_updates.ts";

Deno.test("updatesOf() cuts a node or status to a million characters, and none of them in two", () => {
  const update = updatesOf("s", () => {});
  const rest = "x".repeat(999_999);
  for (
    const [label, shown] of [
      [`${rest}🙂`, `${rest}\ufffd`],
      [`${rest}yz`, `${rest}y`],
      [`${rest}y`, `${rest}y`],
    ] as const
  ) {
    const { params } = JSON.parse(
      update({ type: "progress", node: label, status: label }),
    );
    const { node, status } = params.update._meta;
    assert(node === shown && status === shown);
  }
});
