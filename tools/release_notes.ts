/**
 * Prints the section of `CHANGELOG.md` for the version of a tag, and the list of
 * tested systems in `docs/install.md`.
 *
 *     deno run --allow-read=CHANGELOG.md,docs/install.md tools/release_notes.ts v1.2.3
 *
 * @module
 */
import config from "../deno.json" with { type: "json" };
import { runTool, ToolError } from "./tool_error.ts";

/**
 * Returns the text below a heading of the second level, a changelog's version
 * for example, up to the next such heading; `undefined` if there is none.
 */
function section(markdown: string, title: string): string | undefined {
  const [, ...sections] = markdown.split(/^## /m);
  const heading = `${title}\n`;
  const found = sections.find((text) => text.startsWith(heading));
  return found?.slice(heading.length).trim() || undefined;
}

function main(): void {
  const [tag] = Deno.args;
  const { version } = config;
  if (tag !== `v${version}`) {
    throw new ToolError(
      `The tag is ${tag}, but deno.json has version ${version}`,
    );
  }
  const notes = section(Deno.readTextFileSync("CHANGELOG.md"), version);
  const systems = section(Deno.readTextFileSync("docs/install.md"), "Systems");
  if (notes === undefined || systems === undefined) {
    throw new ToolError(
      `CHANGELOG.md lacks the section "${version}", or docs/install.md "Systems"`,
    );
  }
  console.log(`${notes}\n\n## Systems\n\n${systems}`);
}

if (import.meta.main) await runTool(main);
