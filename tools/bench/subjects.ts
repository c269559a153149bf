import { clientPermissionFlags } from "../permission_flags.ts";
import standIns from "../npm/import_map.json" with { type: "json" };
import { libraryFlags, sameFlags } from "../stand_ins.ts";

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

/**
 * The bridge from source with `@std/streams` 1.1.2 instead of the release that
 * `deno.lock` pins; the rest of the standard library is npm's stand-ins.
 *
 * @param folder Where its import map goes.
 */
export async function withNewerStreams(folder: string): Promise<Command> {
  const url = (address: string) =>
    new URL(address, import.meta.resolve("../npm/")).href;
  const { imports, scopes } = standIns;
  const map = {
    imports: {
      ...Object.fromEntries(
        Object.entries(imports).map(([name, file]) => [name, url(file)]),
      ),
      // npm's copy of that release
      "@std/streams/text-line-stream":
        "npm:/deno-std@1.4.0/streams/text_line_stream.js",
    },
    scopes: { [url("./")]: scopes["./"] },
  };
  const path = `${folder}/import_map.json`;
  await Deno.writeTextFile(path, JSON.stringify(map));
  return {
    program: Deno.execPath(),
    args: [
      ...[...denoRun, ...libraryFlags.npm.slice(0, -1), `--import-map=${path}`],
      ...[...clientPermissionFlags, `${ROOT}/main.ts`, "--bridge"],
    ],
  };
}

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

/** Only `fetch`: the floor, with the options of `floor.ts`. */
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
