import { clientPermissionFlags } from "../permission_flags.ts";
import { sameFlags } from "../stand_ins.ts";

/** A program and its arguments. */
export interface Command {
  readonly program: string;
  readonly args: readonly string[];
}

/** The subjects of measurements, by their name in the table. */
export type Subjects = ReadonlyMap<string, Command | Unavailable>;

/** Why something cannot be measured here. */
export class Unavailable {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

/** The root of the repository. */
export const ROOT = `${import.meta.dirname}/../..`;

const denoRun = ["run", "-q"];

/** The bridge from source. */
export const OURS: Command = {
  program: Deno.execPath(),
  args: [
    ...[...denoRun, ...sameFlags, ...clientPermissionFlags],
    ...[`${ROOT}/main.ts`, "--bridge"],
  ],
};

/** One JavaScript file on this Deno, with the permissions of the client. */
export function javaScript(file: string, ...args: string[]): Command {
  return {
    program: Deno.execPath(),
    args: [
      ...[...denoRun, "--no-config", ...clientPermissionFlags],
      ...[file, ...args],
    ],
  };
}

/** Only `fetch`: the floor. */
export function floor(...args: string[]): Command {
  return {
    program: Deno.execPath(),
    args: [
      ...[...denoRun, "--no-config", "--allow-net", "--allow-env"],
      ...[`${import.meta.dirname}/floor.ts`, ...args],
    ],
  };
}

/** `parse.ts`, with the code that it shares with the bridge. */
export function parser(
  name: "ours" | "floor",
  args: readonly string[],
): Command {
  return {
    program: Deno.execPath(),
    args: [
      ...[...denoRun, ...sameFlags, "--allow-read"],
      ...[`${import.meta.dirname}/parse.ts`, name, ...args],
    ],
  };
}

/** A script of the peers on Node.js, if they could be installed. */
export function peer(
  folder: string | Unavailable,
  script: string,
  ...args: string[]
): Command | Unavailable {
  if (folder instanceof Unavailable) return folder;
  return { program: "node", args: [`${folder}/${script}`, ...args] };
}
