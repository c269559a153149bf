/**
 * An option of the command line. Parsing, `--help`, completions and documentation
 * share this list.
 */
export interface Option {
  /** The long name, without dashes. */
  readonly name: string;
  /** The letter after a single dash. */
  readonly short?: string;
  /** The placeholder for the value, if the option takes one. */
  readonly value?: string;
  /** The accepted values. If left out, any value is accepted. */
  readonly choices?: readonly string[];
  /** What the option does, for `--help`: a sentence without a full stop. */
  readonly effect: string;
}

/** The shells that `--completions` knows. */
export const SHELLS = ["bash", "zsh", "fish", "powershell"] as const;

/** The values of `--color`. */
export const COLOR_CHOICES = ["auto", "always", "never"] as const;

/** The effect of `-`, the only positional argument. */
export const STANDARD_INPUT_EFFECT =
  "Reads standard input to its end: alone it is the prompt, after -p it follows the last prompt";

/** All options, in the order in which they are shown. */
export const OPTIONS = [
  {
    name: "prompt",
    short: "p",
    value: "TEXT",
    effect:
      "Runs one prompt and exits; given again, the prompts run in order on one thread, up to the first that fails",
  },
  {
    name: "thread",
    short: "t",
    value: "ID",
    effect: "Goes on with a thread that exists instead of creating one",
  },
  {
    name: "json",
    effect: "Writes JSON Lines to standard output instead of replies",
  },
  {
    name: "timeout",
    value: "SECONDS",
    effect:
      "How long one prompt may take, from its start to its reply; then it fails",
  },
  {
    name: "color",
    value: "WHEN",
    choices: COLOR_CHOICES,
    effect:
      "Whether replies and errors are styled: auto (on a terminal), always or never",
  },
  {
    name: "plain",
    effect:
      "Redraws only the prompt while you type it: for screen readers and slow links",
  },
  {
    name: "bridge",
    short: "b",
    effect:
      "Serves an editor: JSON-RPC (Agent Client Protocol) on standard input and output",
  },
  {
    name: "base-url",
    value: "URL",
    effect:
      "Where the service is (https:, or http: on this machine); the last one counts",
  },
  {
    name: "check",
    effect:
      "Tells which settings count, tries them, and says what to do; with -p it runs that prompt and tells about its stream",
  },
  {
    name: "completions",
    value: "SHELL",
    choices: SHELLS,
    effect: "Prints the completion script for bash, zsh, fish or powershell",
  },
  {
    name: "quiet",
    short: "q",
    effect: "No banner and no progress on standard error",
  },
  {
    name: "verbose",
    effect:
      "On standard error, with --bridge: one line per request and remote call; with --check -p: each line of the stream",
  },
  { name: "help", short: "h", effect: "Prints the usage" },
  {
    name: "version",
    short: "V",
    effect: "Prints the versions of the program and of Deno, and the target",
  },
] as const satisfies readonly Option[];

/** The long name of an option. */
export type OptionName = typeof OPTIONS[number]["name"];

/** How an option is written, the long form last: `-p`, `--prompt`. */
export function spellings({ short, name }: Option): readonly string[] {
  return short === undefined ? [`--${name}`] : [`-${short}`, `--${name}`];
}
