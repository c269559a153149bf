/** What the program does: serves prompts, an editor, or a check. */
export type Mode = "prompts" | "bridge" | "check";

/** An option or a positional argument. */
export interface Argument {
  readonly name: string;
  /** What it does, for `--help`: a sentence without a full stop. */
  readonly effect: string;
  /** The modes that accept it. */
  readonly modes: readonly Mode[];
}

/** Parsing, `--help`, completions, the manual and the documentation follow from this. */
export interface Option extends Argument {
  readonly short?: string;
  /** The placeholder for the value, if the option takes one. */
  readonly value?: string;
  /** The accepted values. If left out, any value is accepted. */
  readonly choices?: readonly string[];
}

export const SHELLS = ["bash", "zsh", "fish", "powershell"] as const;

export const COLOR_CHOICES = ["auto", "always", "never"] as const;

/** Also of options that change how prompts look: they may be part of an alias. */
const ALL: readonly Mode[] = ["prompts", "bridge", "check"];

/** `-`, the only positional argument. */
export const STANDARD_INPUT = {
  name: "-",
  effect:
    "Reads all of standard input: on its own, it is the prompt; with -p, it is appended to the last prompt",
  modes: ["prompts"],
} as const satisfies Argument;

export const OPTIONS = [
  {
    name: "prompt",
    short: "p",
    value: "TEXT",
    effect:
      "Runs a prompt and exits; if repeated, the prompts run in order on one thread until one fails",
    modes: ["prompts", "check"],
  },
  {
    name: "thread",
    short: "t",
    value: "ID",
    effect: "Continues (resumes) an existing thread",
    modes: ["prompts"],
  },
  {
    name: "json",
    effect: "Writes JSON Lines instead of replies",
    modes: ["prompts", "check"],
  },
  {
    name: "timeout",
    value: "SECONDS",
    effect: "Time limit for each prompt, from start to reply",
    modes: ["prompts", "check"],
  },
  {
    name: "color",
    value: "WHEN",
    choices: COLOR_CHOICES,
    effect: "When to style replies and errors: auto, always, never",
    modes: ALL,
  },
  {
    name: "plain",
    effect: "Redraws only the prompt (screen readers, slow links)",
    modes: ALL,
  },
  {
    name: "bridge",
    short: "b",
    effect: "Serves an editor: Agent Client Protocol (JSON-RPC)",
    modes: ["bridge"],
  },
  {
    name: "base-url",
    value: "URL",
    effect: "URL of the service; if repeated, the last one is used",
    modes: ALL,
  },
  {
    name: "check",
    effect:
      "Tests settings and connection, and says what to fix; with -p, also runs a prompt and reports what users see",
    modes: ["check"],
  },
  {
    name: "completions",
    value: "SHELL",
    choices: SHELLS,
    effect: "Prints completions for bash, zsh, fish or powershell",
    modes: ALL,
  },
  {
    name: "quiet",
    short: "q",
    effect: "Hides the banner and progress",
    modes: ALL,
  },
  {
    name: "verbose",
    effect: "Logs each request (with --bridge)",
    modes: ["bridge"],
  },
  { name: "help", short: "h", effect: "Prints this help", modes: ALL },
  {
    name: "version",
    short: "V",
    effect: "Prints the versions of the program and of Deno",
    modes: ALL,
  },
] as const satisfies readonly Option[];

export type OptionName = typeof OPTIONS[number]["name"];

/** How an option is written, the long form last: `-p`, `--prompt`. */
export function spellings({ short, name }: Option): readonly string[] {
  return short === undefined ? [`--${name}`] : [`-${short}`, `--${name}`];
}
