/** What the program does: serves prompts, an editor, or a check. */
export type Mode = "prompts" | "bridge" | "check";

/** Something that the command line may hold. */
export interface Argument {
  readonly name: string;
  /** What it does, for `--help`: a sentence without a full stop. */
  readonly effect: string;
  /** The modes in which it has an effect. The others refuse it. */
  readonly modes: readonly Mode[];
  /** Whether it changes nothing in the other modes, as it may be part of an alias. */
  readonly isLook?: true;
}

/**
 * An option of the command line. Parsing, what excludes each other, `--help`,
 * completions, the manual and the documentation follow from this list.
 */
export interface Option extends Argument {
  readonly short?: string;
  /** The placeholder for the value, if the option takes one. */
  readonly value?: string;
  /** The accepted values. If left out, any value is accepted. */
  readonly choices?: readonly string[];
}

export const SHELLS = ["bash", "zsh", "fish", "powershell"] as const;

export const COLOR_CHOICES = ["auto", "always", "never"] as const;

const ALL: readonly Mode[] = ["prompts", "bridge", "check"];

/** `-`, the only positional argument. */
export const STANDARD_INPUT = {
  name: "-",
  effect:
    "Reads standard input to its end: alone it is the prompt, after -p it follows the last prompt",
  modes: ["prompts"],
} as const satisfies Argument;

export const OPTIONS = [
  {
    name: "prompt",
    short: "p",
    value: "TEXT",
    effect:
      "Runs one prompt and exits; given again, the prompts run in order on one thread, up to the first that fails",
    modes: ["prompts", "check"],
  },
  {
    name: "thread",
    short: "t",
    value: "ID",
    effect: "Goes on with a thread that exists instead of creating one",
    modes: ["prompts"],
  },
  {
    name: "json",
    effect: "Writes JSON Lines to standard output instead of replies",
    modes: ["prompts", "check"],
  },
  {
    name: "timeout",
    value: "SECONDS",
    effect:
      "How long one prompt may take, from its start to its reply; then it fails",
    modes: ["prompts", "check"],
  },
  {
    name: "color",
    value: "WHEN",
    choices: COLOR_CHOICES,
    effect:
      "Whether replies and errors are styled: auto (on a terminal), always or never",
    modes: ["prompts"],
    isLook: true,
  },
  {
    name: "plain",
    effect:
      "Redraws only the prompt while you type it: for screen readers and slow links",
    modes: ["prompts"],
    isLook: true,
  },
  {
    name: "bridge",
    short: "b",
    effect:
      "Serves an editor: JSON-RPC (Agent Client Protocol) on standard input and output",
    modes: ["bridge"],
  },
  {
    name: "base-url",
    value: "URL",
    effect:
      "Where the service is (https:, or http: on this machine); the last one counts",
    modes: ALL,
  },
  {
    name: "check",
    effect:
      "Tells which settings count, tries them, and says what to do; with -p it runs that prompt and tells about its stream",
    modes: ["check"],
  },
  {
    name: "completions",
    value: "SHELL",
    choices: SHELLS,
    effect: "Prints the completion script for bash, zsh, fish or powershell",
    modes: ALL,
  },
  {
    name: "quiet",
    short: "q",
    effect: "No banner and no progress on standard error",
    modes: ["prompts"],
    isLook: true,
  },
  {
    name: "verbose",
    effect:
      "On standard error, with --bridge: one line per request and remote call; with --check -p: each line of the stream",
    modes: ["bridge", "check"],
  },
  { name: "help", short: "h", effect: "Prints the usage", modes: ALL },
  {
    name: "version",
    short: "V",
    effect: "Prints the versions of the program and of Deno, and the target",
    modes: ALL,
  },
] as const satisfies readonly Option[];

export type OptionName = typeof OPTIONS[number]["name"];

/** How an option is written, the long form last: `-p`, `--prompt`. */
export function spellings({ short, name }: Option): readonly string[] {
  return short === undefined ? [`--${name}`] : [`-${short}`, `--${name}`];
}

/** The effect of an argument, and which modes do without it. */
export function described({ effect, modes, isLook }: Argument): string {
  const others = ALL.filter((mode) => mode !== "prompts")
    .filter((mode) => !modes.includes(mode))
    .map((mode) => `--${mode}`);
  if (others.length === 0) return effect;
  return isLook
    ? `${effect} (changes nothing of ${others.join(" and ")})`
    : `${effect} (not with ${others.join(" or ")})`;
}
