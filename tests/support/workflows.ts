import { parse } from "yaml";

const FOLDER = `${import.meta.dirname}/../../.github/workflows`;

/** A step of a job. */
export interface Step {
  readonly name?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly [key: string]: unknown;
}

/** A job of a workflow. */
export interface Job {
  readonly needs?: readonly string[];
  readonly steps?: readonly Step[];
  readonly [key: string]: unknown;
}

/** A workflow, as GitHub reads it. */
export interface Workflow {
  readonly jobs: Readonly<Record<string, Job>>;
  readonly [key: string]: unknown;
}

/** The texts of the workflows, by the names of their files. */
export const texts: Readonly<Record<string, string>> = Object.fromEntries(
  Array.from(
    Deno.readDirSync(FOLDER),
    ({ name }) => [name, Deno.readTextFileSync(`${FOLDER}/${name}`)] as const,
  ).sort(),
);

/** The workflow in a file. */
export function workflow(name: string): Workflow {
  return parse(texts[name] ?? "");
}
