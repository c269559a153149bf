import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { SourceCopy } from "../support/source_copy.ts";
import { unreachable } from "../support/faulty_service.ts";

const HOST = Deno.build.target;
const OTHER = HOST === "aarch64-apple-darwin"
  ? "x86_64-apple-darwin"
  : "aarch64-apple-darwin";
const BUNDLE_ALONE = [
  ...["LICENSE", "SHA256SUMS", "THIRD-PARTY.md"],
  ...["agent-gateway.js", "program"],
];

Deno.test("deno task compile with an unknown target is a usage error", async () => {
  await using sources = await SourceCopy.make();

  const args = ["task", "-q", "compile", "pdp-11"];
  const { code, stderr } = await sources.deno(args);

  assertEquals(code, 2);
  assertMatch(
    stderr,
    /^Unknown target "pdp-11": choose from .*\bx86_64-pc-windows-msvc\b.*, or all$/m,
  );
  assertStringIncludes(stderr, HOST);
  assertEquals(sources.artefacts(), BUNDLE_ALONE);
});

Deno.test("deno task compile bakes nothing in that the client does not take", async () => {
  await using sources = await SourceCopy.make();

  for (
    const [argument, reason] of [
      ["--colour", 'Unknown argument "--colour"'],
      ["--base-url=http://service.example", "--base-url cannot be used: http:"],
    ] as const
  ) {
    const { code, stderr } = await sources.deno(
      ["task", "-q", "compile", "--", argument],
    );

    assertEquals(code, 2);
    assertStringIncludes(
      stderr,
      `The client does not start with these: ${reason}`,
    );
  }
  assertEquals(sources.artefacts(), BUNDLE_ALONE);
});

Deno.test("deno task compile takes DENORT_BIN for this system alone", async () => {
  await using sources = await SourceCopy.make();

  const { code, stderr } = await sources.deno(
    ["task", "-q", "compile", OTHER],
    { DENORT_BIN: Deno.execPath() },
  );

  assertEquals(code, 1);
  assertStringIncludes(
    stderr,
    `Cannot compile for ${OTHER}: DENORT_BIN names a runtime of this system; unset it\n`,
  );
  assertEquals(sources.artefacts(), BUNDLE_ALONE);
});

Deno.test("deno task compile says which runtime cannot be downloaded", async () => {
  await using sources = await SourceCopy.make();
  await sources.deno(["task", "-q", "bundle"]);
  const cache = await Deno.makeTempDir();

  const { code, stdout, stderr } = await sources.deno(
    ["run", "-q", "-P=build", "--no-prompt", "tools/compile.ts"],
    { DENO_DIR: cache, HTTPS_PROXY: unreachable() },
  );
  await Deno.remove(cache, { recursive: true });

  assertEquals(code, 1);
  const file = `release/v${Deno.version.deno}/denort-${HOST}.zip`;
  assertEquals(
    stderr,
    `Cannot compile for ${HOST}: https://dl.deno.land/${file} cannot be downloaded; ` +
      `connect to that host once, or put the file into Deno's cache as dl/${file}\n`,
  );
  assertEquals(stdout, "");
  assertEquals(sources.artefacts(), BUNDLE_ALONE);
});
