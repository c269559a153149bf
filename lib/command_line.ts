/**
 * Parses the command line and reports its errors.
 *
 * It does not use `parseArgs` of `@std/cli`, which accepts `--bridge=x` as a
 * switch that is on, reads `-b5` as a number, and drops the last word of
 * `--bridge false`.
 *
 * @module
 */

import {
  type Argument,
  COLOR_CHOICES,
  type Mode,
  type Option,
  type OptionName,
  OPTIONS,
  SHELLS,
  spellings,
  STANDARD_INPUT,
} from "./command_line/option_table.ts";
import {
  unknownFlag,
  unknownWord,
  UsageError,
} from "./command_line/usage_error.ts";
import { isServiceId, KEYLESS, type ServiceId } from "./text.ts";

export { UsageError } from "./command_line/usage_error.ts";

export type Arguments =
  | InteractiveArguments
  | BridgeArguments
  | CheckArguments
  | { readonly command: "print"; readonly text: string };

/** Interactive mode, or the prompts of the command line. */
export interface InteractiveArguments {
  readonly command: "interactive";
  readonly baseUrl: string | undefined;
  readonly prompts: readonly string[];
  /** Whether all of standard input is a prompt, or belongs to the last one (`-`). */
  readonly readsInput: boolean;
  readonly threadId: ServiceId | undefined;
  /** How long one prompt may take, in milliseconds. */
  readonly timeLimit: number | undefined;
  readonly color: typeof COLOR_CHOICES[number];
  readonly json: boolean;
  readonly plain: boolean;
  readonly quiet: boolean;
}

export interface BridgeArguments {
  readonly command: "bridge";
  readonly baseUrl: string | undefined;
  readonly verbose: boolean;
}

export interface CheckArguments {
  readonly command: "check";
  readonly baseUrl: string | undefined;
  readonly prompt: string | undefined;
  /** How long it may take, in milliseconds. */
  readonly timeLimit: number | undefined;
  readonly json: boolean;
}

/** The values of each option and of `-`, in order; an empty string for a switch. */
type Found = Map<string, string[]>;

/**
 * Parses a command line.
 *
 * Short switches may be combined (`-bq`). A value is the next argument, or
 * follows `=`; one that begins with a dash has to follow `=`.
 *
 * @throws {UsageError} If an argument is unknown, a value is missing or wrong, or options
 * exclude each other.
 */
export async function parseCommandLine(
  args: readonly string[],
): Promise<Arguments> {
  const found = scan(args);
  const isGiven = (name: OptionName | "-") => found.has(name);
  const last = (name: OptionName) => found.get(name)?.at(-1);
  if (isGiven("help")) {
    const { usage } = await import("./command_line/usage.ts");
    return { command: "print", text: usage() };
  }
  if (isGiven("version")) {
    const { versionLine } = await import("./version.ts");
    return { command: "print", text: versionLine() };
  }
  const shell = SHELLS.find((known) => known === last("completions"));
  if (shell !== undefined) {
    const { completions } = await import("./command_line/completions.ts");
    return { command: "print", text: completions(shell) };
  }
  refuseExcluded(found);
  const baseUrl = last("base-url");
  const timeLimit = parseSeconds(last("timeout"));
  if (isGiven("check")) {
    return {
      command: "check",
      baseUrl,
      prompt: last("prompt"),
      timeLimit,
      json: isGiven("json"),
    };
  }
  if (isGiven("bridge")) {
    return { command: "bridge", baseUrl, verbose: isGiven("verbose") };
  }
  return {
    command: "interactive",
    baseUrl,
    prompts: found.get("prompt") ?? [],
    readsInput: isGiven("-"),
    threadId: validateThreadId(last("thread")),
    timeLimit,
    color: COLOR_CHOICES.find((known) => known === last("color")) ?? "auto",
    json: isGiven("json"),
    plain: isGiven("plain"),
    quiet: isGiven("quiet"),
  };
}

function scan(args: readonly string[]): Found {
  const found: Found = new Map();
  const rest = [...args];
  while (rest.length > 0) {
    const argument = rest.shift() ?? "";
    if (argument === "--") {
      const [word] = rest;
      if (word !== undefined) throw unknownWord(word, found.has("prompt"));
    } else if (argument === "-") {
      add(found, "-", "");
    } else if (argument.startsWith("-")) {
      addOptions(argument, rest, found);
    } else {
      throw unknownWord(argument, found.has("prompt"));
    }
  }
  return found;
}

/**
 * Adds the options of one argument: `--name`, `--name=value`, `-n`, `-n=value`, or
 * several letters.
 *
 * @param rest The arguments after it. The first one is removed if it is the value.
 */
function addOptions(argument: string, rest: string[], found: Found): void {
  const equals = argument.indexOf("=");
  const flags = equals < 0 ? argument : argument.slice(0, equals);
  const spelled = flags.startsWith("--")
    ? [flags]
    : Array.from(flags.slice(1), (letter) => `-${letter}`);
  const options = spelled.map((flag) => {
    const option = OPTIONS.find((known) => spellings(known).includes(flag));
    if (option === undefined) throw unknownFlag(argument);
    return { flag, option };
  });
  for (const [index, { flag, option }] of options.entries()) {
    const isLast = index === options.length - 1;
    let value = isLast && equals >= 0 ? argument.slice(equals + 1) : undefined;
    if ("value" in option) {
      const [next] = rest;
      if (value === undefined && isLast && !next?.startsWith("-")) {
        value = rest.shift();
      }
      checkValue(option, flag, value, next);
    } else if (value !== undefined) {
      throw new UsageError(
        `${flag} takes no value: ${KEYLESS.quote(argument)}`,
      );
    }
    add(found, option.name, value ?? "");
  }
}

function add(found: Found, name: string, value: string): void {
  found.set(name, [...found.get(name) ?? [], value]);
}

function checkValue(
  option: Option,
  flag: string,
  value: string | undefined,
  next: string | undefined,
): asserts value is string {
  const { name, value: placeholder, choices } = option;
  if (value === undefined && next?.startsWith("-")) {
    throw new UsageError(
      `${flag} needs a value; if it begins with a dash: --${name}=${placeholder}`,
    );
  }
  if (value === undefined) {
    throw new UsageError(`${flag} needs a value: ${flag} ${placeholder}`);
  }
  if (value.trim() === "") {
    throw new UsageError(`${flag} needs a value that is not blank`);
  }
  if (choices?.includes(value) === false) {
    const known = choices.join(", ").replace(/, (\w+)$/, " or $1");
    throw new UsageError(`${flag} must be ${known}`);
  }
}

function refuseExcluded(found: Found): void {
  const count = (name: OptionName | "-") => found.get(name)?.length ?? 0;
  if (count("-") > 1) throw new UsageError(`"-" can be given only once`);
  const mode = modeOf(found);
  const all: readonly Argument[] = [...OPTIONS, STANDARD_INPUT];
  for (const { name, modes } of all) {
    if (!found.has(name) || modes.includes(mode)) continue;
    const shown = name === "-" ? `"-"` : `--${name}`;
    throw new UsageError(
      mode === "prompts"
        ? `${shown} needs ${modes.map((known) => `--${known}`).join(" or ")}`
        : `${shown} cannot be used with --${mode}`,
    );
  }
  if (mode === "check" && count("prompt") > 1) {
    throw new UsageError("--check runs one prompt: give --prompt only once");
  }
}

function modeOf(found: Found): Mode {
  if (found.has("check")) return "check";
  if (found.has("bridge")) return "bridge";
  return "prompts";
}

/** The longest time of a prompt, in seconds: a day. */
const MAX_SECONDS = 86_400;

function parseSeconds(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seconds = /^\d*\.?\d+$|^\d+\.$/.test(text) ? Number(text) : NaN;
  if (seconds > 0 && seconds <= MAX_SECONDS) return seconds * 1000;
  throw new UsageError(
    `--timeout must be a number of seconds above 0, at most ${MAX_SECONDS}`,
  );
}

function validateThreadId(id: string | undefined): ServiceId | undefined {
  if (id === undefined || isServiceId(id)) return id;
  throw new UsageError(
    `--thread must be the id of a thread, not ${KEYLESS.quote(id)}`,
  );
}

/** Whether the arguments ask for bridge mode, even if others of them are wrong. */
export function asksForBridge(args: readonly string[]): boolean {
  return args.some((argument) =>
    /^(?:--bridge|-[a-zA-Z]*b[a-zA-Z]*)$/.test(argument)
  );
}
