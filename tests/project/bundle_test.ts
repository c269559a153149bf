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
import { joinParts } from "../../tools/joined_parts.ts";
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

/** Parts as the bundler writes them. Each calls `log()` when it runs. */
const PARTS = {
  "bridge-0.js":
    'import{a as t,b}from"./chunk-2.js";log("bridge");function r(e){return t(e)+b()}export{r as run};',
  "check-1.js":
    'import"./chunk-2.js";log("check");function r(){return 3}export{r};',
  "chunk-2.js":
    'log("chunk");class C{m(){function n(){return 2}return n()}}async function u(){}function o(e){return e+new C().m()}function p(){return 10}export{o as a,p as b};',
  "gateway-3.js": 'log("gateway");export{};',
  "interactive-4.js": 'log("interactive");export{};',
  "main.js":
    'log("main");var x=await import("./bridge-0.js");log(x.run(1));await import("./bridge-0.js");var y=await import("./check-1.js");log(y.r());',
  "run_stream-5.js": 'log("run_stream");export{};',
  "service_client-6.js": 'log("service_client");export{};',
};

Deno.test("joinParts() evaluates each part once, when it is first imported", async () => {
  const logged: unknown[] = [];
  const code = joinParts(PARTS);
  const AsyncFunction = (async () => {}).constructor as typeof Function;

  await AsyncFunction("log", code)((value: unknown) => logged.push(value));

  assertEquals(logged, ["main", "chunk", "bridge", 13, "check", 3]);
});

Deno.test("joinParts() has V8 compile what most starts use when it loads the file", () => {
  const code = joinParts(PARTS);

  assertMatch(code, /=once\(\(\(\)=>\{[^\n]*log\("bridge"\)/);
  assertMatch(code, /let u=\(async function\(\)\{\}\),o=\(function\(e\)\{/);
  assertMatch(code, /=once\(\(\)=>\{[^\n]*log\("check"\);function r\(\)/);
  assertMatch(code, /\{m\(\)\{function n\(\)/);
  const { "run_stream-5.js": _, ...others } = PARTS;
  assertThrows(() => joinParts(others), ToolError, 'no part "run_stream"');
});

Deno.test("the bundle is ASCII, which V8 keeps as it is", () => {
  assertMatch(code, /^[\0-\x7f]*$/);
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
