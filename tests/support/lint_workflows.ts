import { sameFlags } from "../../tools/deno.ts";
import { programOutput } from "./program_output.ts";

/** Runners and inputs that actionlint 1.7.7 does not know yet. */
const NEWER =
  /label "(?:macos-15-intel|windows-11-arm)" is unknown|input "package-manager-cache" is not defined in action "actions\/setup-node/;

/** Returns what actionlint finds in GitHub workflows (`{name: text}`), line by line. */
export async function lint(texts: Record<string, string>): Promise<string[]> {
  const { stdout } = await programOutput([
    ...[Deno.execPath(), "run", "-q", ...sameFlags, "--no-prompt"],
    ...["--allow-read", "--allow-env"],
    `${import.meta.dirname}/actionlint.ts`,
  ], { input: JSON.stringify(texts) });
  const findings: string[] = JSON.parse(stdout);
  return findings.filter((finding) => !NEWER.test(finding));
}
