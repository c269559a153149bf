import {
  assert,
  assertEquals,
  assertMatch,
  assertNotMatch,
  assertThrows,
} from "@std/assert";
import { readdirSync } from "node:fs";
import { pathToFileURL } from "node:url";
import config from "../../deno.json" with { type: "json" };
import { bundle, clientPermissionFlags } from "../../tools/bundle.ts";
import { compileAtLoad } from "../../tools/eager_functions.ts";
import { runCommand } from "../../tools/run_command.ts";
import { ToolError } from "../../tools/tool_error.ts";
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

Deno.test("the bundle has at most 134 KB", () => {
  assert(new TextEncoder().encode(code).length <= 134_000);
});

Deno.test("compileAtLoad() puts modules and the named functions in parentheses, and names those that are missing", () => {
  const helper = "var h=(t,e)=>()=>(t&&(e=t(t=0)),e);";
  const map = {
    version: 3,
    sources: ["a.ts"],
    sourcesContent: ["function twice(x) {\nexport async function answer(x) {"],
    names: [],
    mappings: "4CAAA,6BACA", // columns 44 and 73
  };
  const output = helper +
    "function b(t){return t}async function a(t){return{t}}var m=h(()=>{b()});" +
    "//# sourceMappingURL=data:application/json;base64," +
    btoa(JSON.stringify(map));

  assertEquals(
    compileAtLoad(output, ["answer"]),
    `var b=t=>{return t},a=(async function(t){return{t}});${helper}var m=h((()=>{b()}));`,
  );
  assertThrows(
    () => compileAtLoad(output, ["answer", "reply"]),
    ToolError,
    "names: reply;",
  );
});

Deno.test("the bundle has modules and functions in parentheses", () => {
  assertMatch(code, /=\(async function\(/);
  assertMatch(code, /=\w\(\(\(\)=>\{/);
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

Deno.test("deno task bundle makes the same bytes in another folder, and they name no folder", async () => {
  await using sources = await SourceCopy.make();

  const built = await sources.deno(["task", "-q", "bundle"]);

  assertEquals(built.code, 0);
  const path = `${sources.folder}/dist/agent-gateway.js`;
  assertEquals(await Deno.readTextFile(path), code);
  assertEquals(
    sources.artefacts(),
    ["LICENSE", "SHA256SUMS", "THIRD-PARTY.md", "agent-gateway.js", "program"],
  );
  assertNotMatch(code, /\bnode_modules\b|\bregistry\b|\bfile:\/\/|\.ts\b/);
});
