import { assertEquals } from "@std/assert";
import { offersToReadFiles } from "../../../lib/bridge/capabilities.ts";
import { READS_FILES } from "../../support/editor.ts";

Deno.test("offersToReadFiles() is true for clientCapabilities.fs.readTextFile: true alone", () => {
  assertEquals(offersToReadFiles(READS_FILES), true);
  for (
    const params of [
      ...[undefined, null, {}, { clientCapabilities: null }],
      ...[{ fs: { readTextFile: true } }, { clientCapabilities: { fs: null } }],
      { clientCapabilities: { fs: { writeTextFile: true } } },
      { clientCapabilities: { fs: { readTextFile: "true" } } },
    ]
  ) {
    assertEquals(offersToReadFiles(params), false, JSON.stringify(params));
  }
});
