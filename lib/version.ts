import config from "../deno.json" with { type: "json" };

/** The program's version, as in `deno.json`. */
export const VERSION: string = config.version;

/** What `--version` prints: the versions of the program and of Deno, and the target. */
export function versionLine(): string {
  return `agent-gateway ${VERSION} (deno ${Deno.version.deno}, ${Deno.build.target})\n`;
}
