import { assertEquals } from "@std/assert";
import { NO_OFFERS, offersIn } from "../../../lib/bridge/capabilities.ts";
import { READS_FILES } from "../../support/editor.ts";

Deno.test("offersIn() finds what an editor offers, and nothing in params that are not as the schema says", () => {
  assertEquals(offersIn(READS_FILES), { ...NO_OFFERS, readsFiles: true });
  const session = { notices: {} };
  assertEquals(offersIn({ clientCapabilities: { session } }), {
    ...NO_OFFERS,
    showsNotices: true,
  });
  for (
    const params of [
      ...[undefined, null, {}, { clientCapabilities: null }],
      ...[{ fs: { readTextFile: true } }, { clientCapabilities: { fs: null } }],
      { clientCapabilities: { fs: { writeTextFile: true }, session: null } },
      { clientCapabilities: { fs: { readTextFile: "true" } } },
      { clientCapabilities: { session: { notices: null } } },
    ]
  ) {
    assertEquals(offersIn(params), NO_OFFERS, JSON.stringify(params));
  }
});
