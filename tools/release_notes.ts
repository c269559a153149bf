/**
 * Prints what `CHANGELOG.md` tells about the version that a tag names.
 *
 *     deno run --allow-read=CHANGELOG.md tools/release_notes.ts v1.2.3
 *
 * @module
 */
import config from "../deno.json" with { type: "json" };

/**
 * Returns the text below a version's heading in a changelog, up to the next
 * version's; `undefined` if there is none.
 */
export function releaseNotes(
  changelog: string,
  version: string,
): string | undefined {
  const [, ...sections] = changelog.split(/^## /m);
  const heading = `${version}\n`;
  const section = sections.find((section) => section.startsWith(heading));
  return section?.slice(heading.length).trim() || undefined;
}

function main([tag]: readonly string[]): number {
  const { version } = config;
  if (tag !== `v${version}`) {
    console.error(`The tag is ${tag}, but deno.json has version ${version}`);
    return 1;
  }
  const notes = releaseNotes(Deno.readTextFileSync("CHANGELOG.md"), version);
  if (notes === undefined) {
    console.error(`CHANGELOG.md tells nothing about ${version}`);
    return 1;
  }
  console.log(notes);
  return 0;
}

if (import.meta.main) Deno.exit(main(Deno.args));
