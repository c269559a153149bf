import { assert, assertEquals } from "@std/assert";
import {
  AGENTS_LIST_RESULT,
  INITIALIZE_RESULT,
  progressLines,
} from "../../../lib/bridge/acp.ts";
import { VERSION } from "../../../lib/version.ts";

Deno.test("INITIALIZE_RESULT says what the bridge is and can (interface 3)", () => {
  const { serverInfo, capabilities, agentInfo } = INITIALIZE_RESULT;
  assertEquals(serverInfo, { name: "agent-gateway", version: VERSION });
  assertEquals(capabilities, { agents: true });
  assertEquals(agentInfo.version, VERSION);
});

Deno.test("AGENTS_LIST_RESULT holds the single agent (interface 4.2)", () => {
  assertEquals(AGENTS_LIST_RESULT.agents.map(({ id }) => id), ["the-brain"]);
});

Deno.test("progressLines() cuts a node or status to a million characters, and none of them in two", () => {
  const line = progressLines("s", "m");
  const rest = "x".repeat(999_999);
  for (
    const [label, shown] of [
      [`${rest}🙂`, `${rest}\ufffd`],
      [`${rest}yz`, `${rest}y`],
      [`${rest}y`, `${rest}y`],
    ] as const
  ) {
    const { params } = JSON.parse(
      line({ type: "progress", node: label, status: label }),
    );
    const { node, status } = params.update._meta;
    assert(node === shown && status === shown);
  }
});
