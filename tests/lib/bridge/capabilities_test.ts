import { assertEquals } from "@std/assert";
import {
  AGENTS_LIST_RESULT,
  INITIALIZE_RESULT,
} from "../../../lib/bridge/capabilities.ts";
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
