import { assert, assertEquals, assertNotMatch } from "@std/assert";
import { pathToFileURL } from "node:url";
import config from "../../deno.json" with { type: "json" };
import { bundle, clientPermissionFlags } from "../../tools/bundle.ts";
import { writeChecksums } from "../../tools/checksums.ts";
import { runCommand } from "../../tools/run_command.ts";
import { SourceCopy } from "../support/source_copy.ts";

const code = await bundle();

Deno.test("clientPermissionFlags are network, the named variables, .env, certificates and no prompt", () => {
  assertEquals(clientPermissionFlags, [
    "--allow-net",
    `--allow-env=${config.permissions.client.env.join(",")}`,
    "--allow-read=.env",
    "--allow-sys",
    "--no-prompt",
  ]);
});

Deno.test("the bundle begins with its name, version, licence and usage", () => {
  assertEquals(code.split("\n", 2), [
    `// agent-gateway ${config.version}, MIT license`,
    `// Usage: deno run ${clientPermissionFlags.join(" ")} agent-gateway.js`,
  ]);
});

Deno.test("the bundle disposes of what the source disposes of", async () => {
  // The minifier drops `using` where the variable is used once.
  const root = `${import.meta.dirname}/../..`;
  let declared = 0;
  for await (const file of sources(`${root}/lib`)) {
    declared += count(await Deno.readTextFile(file));
  }
  declared += count(await Deno.readTextFile(`${root}/main.ts`));

  assert(declared > 0);
  assertEquals(count(code), declared);
});

/** How many `using` declarations a program has. */
function count(source: string): number {
  return source.match(/^ *(?:await )?using \w+|[;{}](?:await )?using \w+/gm)
    ?.length ?? 0;
}

async function* sources(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) yield* sources(`${folder}/${name}`);
    else yield `${folder}/${name}`;
  }
}

Deno.test("the bundle has less than 148 KiB", () => {
  assert(new TextEncoder().encode(code).length < 148 * 1024);
});

Deno.test("the bundle imports parts of Deno alone, when they are used", async () => {
  const file = await Deno.makeTempFile({ suffix: ".js" });
  await Deno.writeTextFile(file, code);
  const url = pathToFileURL(file).href; // Deno takes C:\ for a scheme.
  const stdout = await runCommand([
    ...[Deno.execPath(), "info", "--json", "--no-config", "--no-lock", url],
  ]);
  await Deno.remove(file);

  const [{ dependencies }] = JSON.parse(stdout).modules;
  assert(dependencies.length > 0);
  for (const { specifier, isDynamic } of dependencies) {
    assert(specifier.startsWith("node:"), specifier);
    assert(isDynamic, `${specifier} is loaded at the start`);
  }
  assertNotMatch(code, /\bimport\((?!"node:\w+"\))/);
});

Deno.test("the bundle makes no code out of text", () => {
  assertNotMatch(code, /\b(?:eval|Function|require|createRequire)\(/);
});

Deno.test("deno task bundle makes the same bytes in another folder", async () => {
  await using sources = await SourceCopy.make();

  const built = await sources.deno(["task", "-q", "bundle"]);

  assertEquals(built.code, 0);
  const path = `${sources.folder}/dist/agent-gateway.js`;
  assertEquals(await Deno.readTextFile(path), code);
  assertEquals(
    sources.artefacts(),
    ["LICENSE", "SHA256SUMS", "THIRD-PARTY.md", "agent-gateway.js", "program"],
  );
});

Deno.test("the bundle tells nothing of the machine that made it", () => {
  assertNotMatch(code, /\bnode_modules\b|\bregistry\b|\bfile:\/\/|\.ts\b/);
});

Deno.test("writeChecksums() lists every other file of the folder by its name", async () => {
  const folder = await Deno.makeTempDir();
  await Deno.writeTextFile(`${folder}/b`, "abc");
  await Deno.writeTextFile(`${folder}/a`, "");
  await Deno.writeTextFile(`${folder}/SHA256SUMS`, "old");
  await Deno.mkdir(`${folder}/folder`);

  await writeChecksums(folder);

  const sums = await Deno.readTextFile(`${folder}/SHA256SUMS`);
  await Deno.remove(folder, { recursive: true });
  assertEquals(
    sums,
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a\n" +
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  b\n",
  );
});
