/**
 * Updates the project's pins to the newest releases: Deno, the actions of the
 * workflows, and the packages from JSR. Prints the version of Deno.
 *
 *     deno run --allow-net=api.github.com --allow-read --allow-write --allow-run tools/update_pins.ts
 *
 * @module
 */
import { writeLock } from "./lock.ts";

const ROOT = `${import.meta.dirname}/..`;
const WORKFLOWS = ".github/workflows";

/** Where the version of Deno is pinned, besides the workflows. */
const PINNED_IN = [".ci/common.sh", "README.md", "CONTRIBUTING.md"];

/** How long an answer of GitHub may take, in milliseconds. */
const TIMEOUT = 30_000;

/** A release of an action. */
export interface ActionRelease {
  /** For example `v1.2.3`. */
  readonly tag: string;
  /** The commit of the tag, 40 hexadecimal digits. */
  readonly commit: string;
}

/** The actions that a workflow uses, for example `actions/checkout`. */
export function actionsIn(workflow: string): readonly string[] {
  const uses = workflow.matchAll(/\buses: *([\w-]+\/[\w-]+)@/g);
  return [...new Set(Array.from(uses, ([, action = ""]) => action))];
}

/** Pins a workflow's actions to the commits of the given releases. */
export function pinActions(
  workflow: string,
  releases: ReadonlyMap<string, ActionRelease>,
): string {
  return workflow.replaceAll(
    /\buses: *([\w-]+\/[\w-]+)@[0-9a-f]{40} # v[\d.]+/g,
    (use, action) => {
      const release = releases.get(action);
      if (release === undefined) return use;
      return `uses: ${action}@${release.commit} # ${release.tag}`;
    },
  );
}

/** Pins Deno wherever a text names the version to run. */
export function pinDeno(text: string, version: string): string {
  return text.replaceAll(
    /(\bdeno@|\bdeno-version: "|^deno_version=)\d+\.\d+\.\d+/gm,
    (_, before) => `${before}${version}`,
  );
}

async function latestRelease(repository: string): Promise<ActionRelease> {
  const { tag_name: tag } = await ask(`${repository}/releases/latest`);
  if (!/^v\d+\.\d+\.\d+$/.test(tag)) {
    throw new Error(`The newest release of ${repository} is called ${tag}`);
  }
  const { sha: commit } = await ask(`${repository}/commits/${tag}`);
  return { tag, commit };
}

// deno-lint-ignore no-explicit-any -- GitHub documents its answers
async function ask(path: string): Promise<any> {
  const url = `https://api.github.com/repos/${path}`;
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT) });
  if (!response.ok) throw new Error(`${url} answers ${response.status}`);
  return await response.json();
}

async function main(): Promise<void> {
  const files = [...PINNED_IN];
  for await (const { name } of Deno.readDir(`${ROOT}/${WORKFLOWS}`)) {
    files.push(`${WORKFLOWS}/${name}`);
  }
  const texts = new Map<string, string>();
  for (const file of files) {
    texts.set(file, await Deno.readTextFile(`${ROOT}/${file}`));
  }
  const actions = new Set([...texts.values()].flatMap(actionsIn));
  const releases = new Map<string, ActionRelease>();
  for (const action of actions) {
    releases.set(action, await latestRelease(action));
  }
  const { tag } = await latestRelease("denoland/deno");
  const version = tag.slice("v".length);
  for (const [file, text] of texts) {
    await Deno.writeTextFile(
      `${ROOT}/${file}`,
      pinActions(pinDeno(text, version), releases),
    );
  }
  await writeLock(ROOT);
  console.log(version);
}

if (import.meta.main) await main();
