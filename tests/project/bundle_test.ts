import { assert, assertEquals, assertNotMatch } from "@std/assert";
import { globSync } from "node:fs";
import { pathToFileURL } from "node:url";
import config from "../../deno.json" with { type: "json" };
import { bundle, clientPermissionFlags } from "../../tools/bundle.ts";
import { runCommand } from "../../tools/run_command.ts";
import { Folder } from "../support/environment.ts";

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
  const cwd = `${import.meta.dirname}/../..`;
  const sources = globSync(["main.ts", "lib/**/*.ts"], { cwd })
    .map((file) => Deno.readTextFileSync(`${cwd}/${file}`)).join("\n");
  assert(usings(sources) > 0);
  assertEquals(usings(code), usings(sources));
});

/** How many `using` declarations a program has. */
function usings(source: string): number {
  return source.match(/^ *(?:await )?using \w+|[;{}](?:await )?using \w+/gm)
    ?.length ?? 0;
}

Deno.test("the bundle has at most 175 KB of ASCII, which V8 keeps as it is, and names no folder", () => {
  assert(code.length <= 175_000, `${code.length}`);
  assertEquals(code.match(/.{0,40}[^\0-\x7f].{0,40}/)?.[0], undefined);
  assertNotMatch(code, /\bnode_modules\b|\bregistry\b|\bfile:\/\/|\w\.ts\b/);
});

Deno.test("the bundle imports parts of Deno alone, when they are used, and makes no code out of text", async () => {
  using folder = new Folder();
  const file = `${folder.path}/agent-gateway.js`;
  await Deno.writeTextFile(file, code);
  const url = pathToFileURL(file).href; // Deno takes C:\ for a scheme.
  const stdout = await runCommand([
    ...[Deno.execPath(), "info", "--json", "--no-config", "--no-lock", url],
  ]);

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
