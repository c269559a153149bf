import { assertEquals } from "@std/assert";
import { clientIn, NO_FEATURES } from "../../../lib/bridge/capabilities.ts";
import { READS_FILES } from "../../support/editor.ts";

Deno.test("clientIn() finds what an editor is, and nothing in params that are not as the schema says", () => {
  const { readsFiles, takesTitles } = clientIn(READS_FILES);
  assertEquals([readsFiles, takesTitles], [true, true]);
  const session = { notices: {} };
  const { showsNotices } = clientIn({ clientCapabilities: { session } });
  assertEquals(showsNotices, true);
  for (const name of ["zed", "Zed", "zeditor"]) {
    const { isZed } = clientIn({ clientInfo: { name } });
    assertEquals(isZed, name === "zed");
  }
  for (
    const params of [
      ...[undefined, null, {}, { clientCapabilities: null }],
      ...[{ fs: { readTextFile: true } }, { clientCapabilities: { fs: null } }],
      { clientCapabilities: { fs: { writeTextFile: true }, session: null } },
      { clientCapabilities: { fs: { readTextFile: "true" } } },
      { clientCapabilities: { session: { notices: null } } },
      { clientInfo: "zed" },
    ]
  ) {
    assertEquals(clientIn(params), NO_FEATURES, JSON.stringify(params));
  }
});
