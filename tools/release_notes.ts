/**
 * Prints the section of `CHANGELOG.md` for the version of a tag, and the list of
 * tested systems in `docs/install.md`.
 *
 *     deno run --allow-read=CHANGELOG.md,docs/install.md tools/release_notes.ts v1.2.3
 *
 * @module
 */
import config from "../deno.json" with { type: "json" };

/**
 * Returns the text below a heading of the second level, a changelog's version
 * for example, up to the next such heading; `undefined` if there is none.
 */
export function section(
  markdown: string,
  title: string,
): string | undefined {
  const [, ...sections] = markdown.split(/^## /m);
  const heading = `${title}\n`;
  const found = sections.find((text) => text.startsWith(heading));
  return found?.slice(heading.length).trim() || undefined;
}

function main([tag]: readonly string[]): number {
  const { version } = config;
  if (tag !== `v${version}`) {
    console.error(`The tag is ${tag}, but deno.json has version ${version}`);
    return 1;
  }
  const notes = section(Deno.readTextFileSync("CHANGELOG.md"), version);
  if (notes === undefined) {
    console.error(`CHANGELOG.md tells nothing about ${version}`);
    return 1;
  }
  const systems = section(Deno.readTextFileSync("docs/install.md"), "Systems");
  if (systems === undefined) {
    console.error("docs/install.md has no section Systems");
    return 1;
  }
  console.log(`${notes}\n\n## Systems\n\n${systems}`);
  return 0;
}

if (import.meta.main) Deno.exit(main(Deno.args));
