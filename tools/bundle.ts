/**
 * Makes `dist/agent-gateway.js`: the whole program in one file, which needs
 * nothing but Deno. The same source gives the same bytes on every machine.
 *
 * @module
 */
import config from "../deno.json" with { type: "json" };
import { clientPermissionFlags } from "./permission_flags.ts";
import { sameFlags } from "./stand_ins.ts";

const root = `${import.meta.dirname}/..`;
const output = `${root}/dist/agent-gateway.js`;

const header = [
  `// agent-gateway ${config.version}, ${config.license} license`,
  `// Usage: deno run ${clientPermissionFlags.join(" ")} agent-gateway.js`,
  "// With parts of the standard library, copyright the Deno authors, MIT license",
];

const { success, stdout } = await new Deno.Command(Deno.execPath(), {
  args: ["bundle", "--quiet", ...sameFlags, `${root}/main.ts`],
  stderr: "inherit",
}).output();
if (!success) Deno.exit(1);

const code = withoutPaths(withVersionAlone(new TextDecoder().decode(stdout)));
await Deno.mkdir(`${root}/dist`, { recursive: true });
await Deno.writeTextFile(output, `${header.join("\n")}\n${code}`);
console.log(`dist/agent-gateway.js: ${(await Deno.stat(output)).size} bytes`);

/** Leaves of `deno.json`, which Deno takes in whole, what the program reads. */
function withVersionAlone(code: string): string {
  const inlined = /^( *)((?:var )?deno_default = )\{$.*?^\1\};$/ms;
  if (!inlined.test(code)) {
    throw new Error("Cannot bundle: deno.json is not where Deno 2.9 puts it");
  }
  const { version } = config;
  return code.replace(
    inlined,
    `$1$2${JSON.stringify({ version })};`,
  );
}

/** Drops the comments that tell where on this machine a module was. */
function withoutPaths(code: string): string {
  return code.replace(/^\/\/ \S+\.(?:ts|js|json)\n/gm, "");
}
