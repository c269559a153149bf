import { parse } from "yaml";

const GITHUB = `${import.meta.dirname}/../../.github`;

/** A step of a job. */
export interface Step {
  readonly name?: string;
  readonly uses?: string;
  readonly run?: string;
}

/** A job of a workflow. */
export interface Job {
  readonly steps?: readonly Step[];
}

/** A workflow, or an action, as GitHub reads it. */
export interface Workflow {
  readonly jobs?: Readonly<Record<string, Job>>;
  /** The steps of an action. */
  readonly runs?: Job;
}

/** The action that installs the Deno that makes releases. */
export const ACTION = "actions/deno/action.yml";

const NAMES = Array.from(
  Deno.readDirSync(`${GITHUB}/workflows`),
  ({ name }) => name,
).sort();

/** The texts of the workflows and the action, by their names. */
export const TEXTS: Readonly<Record<string, string>> = Object.fromEntries([
  ...NAMES.map((name) => [name, readText(`workflows/${name}`)]),
  [ACTION, readText(ACTION)],
]);

function readText(path: string): string {
  return Deno.readTextFileSync(`${GITHUB}/${path}`);
}

/** The workflow, or the action, of that name. */
export function workflow(name: string): Workflow {
  return parse(TEXTS[name] ?? "");
}
