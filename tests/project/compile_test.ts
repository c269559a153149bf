import { assertEquals, assertStringIncludes } from "@std/assert";
import { SourceCopy } from "../support/source_copy.ts";

const OTHER = Deno.build.target === "aarch64-apple-darwin"
  ? "x86_64-apple-darwin"
  : "aarch64-apple-darwin";

Deno.test("deno task compile makes nothing of what cannot be compiled, and says why", async () => {
  await using sources = await SourceCopy.make();
  await sources.deno(["task", "-q", "bundle"]);
  const bundle = sources.artefacts();
  const start = "The client does not start with these: ";

  for (
    const [args, expected, message] of [
      [["--", "--colour"], 2, `${start}Unknown argument "--colour"`],
      [["--", "--base-url=http://a.example"], 2, `${start}--base-url cannot`],
      [[OTHER], 1, `Cannot compile for ${OTHER}: DENORT_BIN names a runtime `],
    ] as const
  ) {
    const { code, stderr } = await sources.deno(
      ["run", "-q", "-P=build", "--no-prompt", "tools/compile.ts", ...args],
      { DENORT_BIN: Deno.execPath() },
    );
    assertEquals(code, expected, stderr);
    assertStringIncludes(stderr, message);
  }
  assertEquals(sources.artefacts(), bundle);
});
