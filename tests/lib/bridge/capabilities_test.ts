import { assertEquals } from "@std/assert";
import { clientIn } from "../../../lib/bridge/capabilities.ts";

/** Params of `initialize`, and what is found in them. */
const CLIENTS: readonly (readonly [params: unknown, found: string])[] = [
  [{ protocolVersion: 1 }, "takesTitles"],
  [{ clientInfo: { name: "zed" } }, "isZed"],
  [{ clientCapabilities: { fs: { readTextFile: true } } }, "readsFiles"],
  [{ clientCapabilities: { session: { notices: {} } } }, "showsNotices"],
  ...[undefined, null, {}, [], "x", { clientCapabilities: null }].map(
    (params) => [params, ""] as const,
  ),
  [{ clientInfo: { name: "Zed" } }, ""],
  [{ clientInfo: "zed" }, ""],
  [{ fs: { readTextFile: true } }, ""],
  [{ clientCapabilities: { fs: { writeTextFile: true }, session: null } }, ""],
  [{ clientCapabilities: { fs: { readTextFile: "true" } } }, ""],
  [{ clientCapabilities: { session: { notices: null } } }, ""],
];
Deno.test("clientIn() finds what a client is, and nothing in params that are not as the schema says", () => {
  for (const [params, expected] of CLIENTS) {
    const found = Object.entries(clientIn(params)).filter(([, has]) => has)
      .map(([name]) => name);
    assertEquals(found.join(), expected, JSON.stringify(params));
  }
});
