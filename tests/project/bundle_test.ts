import { assert, assertEquals, assertNotMatch } from "@std/assert";
import { readdirSync } from "node:fs";
import { pathToFileURL } from "node:url";
import config from "../../deno.json" with { type: "json" };
import { bundle, clientPermissionFlags } from "../../tools/bundle.ts";
import { runCommand } from "../../tools/run_command.ts";

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

Deno.test("the bundle disposes of what the source disposes of", () => {
  const root = `${import.meta.dirname}/../..`;
  const sources = readdirSync(`${root}/lib`, { recursive: true })
    .filter((name) => `${name}`.endsWith(".ts"))
    .map((name) => Deno.readTextFileSync(`${root}/lib/${name}`));
  const main = Deno.readTextFileSync(`${root}/main.ts`);
  const declared = count([...sources, main].join("\n"));

  assert(declared > 0);
  assertEquals(count(code), declared);
});

/** How many `using` declarations a program has. */
function count(source: string): number {
  return source.match(/^ *(?:await )?using \w+|[;{}](?:await )?using \w+/gm)
    ?.length ?? 0;
}

Deno.test("the bundle has at most 175 KB", () => {
  const { length } = new TextEncoder().encode(code);
  assert(length <= 175_000, `${length}`);
});

Deno.test("the bundle is ASCII, which V8 keeps as it is, and names no folder", () => {
  assertEquals(code.match(/.{0,40}[^\0-\x7f].{0,40}/)?.[0], undefined);
  assertNotMatch(code, /\bnode_modules\b|\bregistry\b|\bfile:\/\/|\w\.ts\b/);
});

Deno.test("the bundle imports parts of Deno alone, when they are used, and makes no code out of text", async () => {
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
  assertNotMatch(
    code,
    /\bimport\((?!"node:\w+"\))|\b(?:eval|Function|require|createRequire)\(/,
  );
});
