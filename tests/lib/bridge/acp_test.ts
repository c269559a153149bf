import { assertEquals } from "@std/assert";
import {
  AGENTS_LIST_RESULT,
  INITIALIZE_RESULT,
  offersToReadFiles,
  progressUpdate,
  replyUpdate,
} from "../../../lib/bridge/acp.ts";
import { VERSION } from "../../../lib/version.ts";
import {
  notificationViolations,
  resultViolations,
} from "../../support/acp_schema.ts";

Deno.test("INITIALIZE_RESULT says what the bridge is and can (interface 3)", () => {
  assertEquals(INITIALIZE_RESULT, {
    protocolVersion: 1,
    serverInfo: { name: "agent-gateway", version: VERSION },
    capabilities: { agents: true },
    agentInfo: {
      name: "agent-gateway",
      title: "Agent Gateway",
      version: VERSION,
    },
    agentCapabilities: {
      promptCapabilities: { embeddedContext: true },
      sessionCapabilities: { close: {}, resume: {} },
    },
    authMethods: [],
  });
  assertEquals(resultViolations("initialize", INITIALIZE_RESULT), "");
});

Deno.test("AGENTS_LIST_RESULT holds the single agent (interface 4.2)", () => {
  assertEquals(AGENTS_LIST_RESULT.agents.map(({ id }) => id), ["the-brain"]);
});

const OFFERS: readonly (readonly [params: unknown, offers: boolean])[] = [
  [{ clientCapabilities: { fs: { readTextFile: true } } }, true],
  [{ clientCapabilities: { fs: { readTextFile: false } } }, false],
  [{ clientCapabilities: { fs: { readTextFile: "true" } } }, false],
  [{ clientCapabilities: { fs: { writeTextFile: true } } }, false],
  [{ clientCapabilities: { fs: true } }, false],
  [{ clientCapabilities: { fs: null } }, false],
  [{ clientCapabilities: null }, false],
  [{ fs: { readTextFile: true } }, false],
  [{}, false],
  [null, false],
  [undefined, false],
];
for (const [params, offers] of OFFERS) {
  Deno.test(`offersToReadFiles() is ${offers} for ${JSON.stringify(params)}`, () => {
    assertEquals(offersToReadFiles(params), offers);
  });
}

Deno.test("progressUpdate() and replyUpdate() are updates of the protocol (interface 6)", () => {
  const event = { event: "progress", node: "plan", status: "done" } as const;
  for (
    const update of [progressUpdate("s", event), replyUpdate("s", "Done.")]
  ) {
    if (!("method" in update)) throw new Error("It is no notification");
    assertEquals(notificationViolations(update.method, update.params), "");
  }
});
