import { assertEquals } from "@std/assert";
import {
  describeTerminal,
  type StreamKinds,
  type Terminal,
  type Wishes,
} from "../../../lib/interactive/terminal.ts";
import { redacted } from "../../support/texts.ts";

interface Start {
  /** The kinds of standard input, output and error. */
  readonly streams: readonly [
    StreamKinds["stdin"],
    StreamKinds["stdout"],
    StreamKinds["stderr"],
  ];
  /** Whether prompts come from standard input; the default is true. */
  readonly readsPrompts?: boolean;
  readonly wishes?: Partial<Wishes>;
  readonly env?: Readonly<Record<string, string>>;
}

function describe(
  { streams, readsPrompts = true, wishes, env }: Start,
): Terminal {
  const { get } = Deno.env;
  Deno.env.get = (name) => ({ TERM: "xterm", ...env })[name];
  try {
    const [stdin, stdout, stderr] = streams;
    return describeTerminal({ stdin, stdout, stderr }, readsPrompts, {
      color: "auto",
      plain: false,
      quiet: false,
      ...wishes,
    });
  } finally {
    Deno.env.get = get;
  }
}

const TERMINALS = ["terminal", "terminal", "terminal"] as const;

const STARTS: Readonly<
  Record<string, readonly [Start, expected: Partial<Terminal>]>
> = {
  "a chat": [
    { streams: TERMINALS },
    {
      isTyped: true,
      isScreen: true,
      mixesReplies: true,
      replies: "styled",
      keys: redacted(
        "Ctrl-J: new line, Ctrl-C: stop, command: exit; screen readers: --plain",
      ),
    },
  ],
  "a chat with --plain": [
    { streams: TERMINALS, wishes: { plain: true } },
    {
      isScreen: true,
      replies: "clean",
      keys: redacted("Ctrl-J: new line, Ctrl-C: stop, command: exit"),
    },
  ],
  "a chat with --quiet": [
    { streams: TERMINALS, wishes: { quiet: true } },
    { isScreen: true },
  ],
  "a chat whose replies go to a file": [
    { streams: ["terminal", "data", "terminal"] },
    { isScreen: true, mixesReplies: false },
  ],
  "a chat whose errors go to a file": [
    { streams: ["terminal", "terminal", "data"] },
    { isTyped: true, isScreen: false, keys: undefined },
  ],
  "a chat on a dumb terminal": [
    { streams: TERMINALS, env: { TERM: "dumb" } },
    {
      isTyped: true,
      isScreen: false,
      replies: "clean",
      keys: redacted("Ctrl-C: stop, command: exit"),
    },
  ],
  "a chat in a window that gives the program pipes": [
    { streams: ["lines", "lines", "lines"] },
    {
      isTyped: true,
      isScreen: false,
      keys: redacted(
        "Ctrl-C: stop, command: exit; no keys arrive: use winpty or Windows Terminal",
      ),
    },
  ],
  "piped lines": [
    { streams: ["data", "data", "terminal"] },
    { isTyped: false, isScreen: false, endsProgress: false, keys: undefined },
  ],
  "-p": [
    { streams: TERMINALS, readsPrompts: false },
    { isScreen: false, mixesReplies: false, endsProgress: false },
  ],
  "-p in front of a pager": [
    { streams: ["data", "data", "terminal"], readsPrompts: false },
    { isScreen: false, endsProgress: true, replies: "unchanged" },
  ],
};
for (const [what, [start, expected]] of Object.entries(STARTS)) {
  Deno.test(`describeTerminal() describes that of ${what}`, () => {
    const terminal: Partial<Record<string, unknown>> = { ...describe(start) };
    const found = Object.keys(expected).map((key) => [key, terminal[key]]);
    assertEquals(Object.fromEntries(found), expected);
  });
}

const SCREENS: readonly (readonly [env: Start["env"], isScreen: boolean])[] = [
  ...["", "0", "false"].map((CI) => [{ CI }, true] as const),
  ...["1", "yes"].map((CI) => [{ CI }, false] as const),
  [{ TERM: "dumb" }, false],
  [{ TERM: "" }, Deno.build.os === "windows"],
];
for (const [env = {}, isScreen] of SCREENS) {
  Deno.test(`describeTerminal() ${isScreen ? "finds a" : "finds no"} screen with ${JSON.stringify(env)}`, () => {
    assertEquals(describe({ streams: TERMINALS, env }).isScreen, isScreen);
  });
}

Deno.test("describeTerminal() knows the Linux console, whose fonts lack most characters, and screen on it", () => {
  const isAscii = ["linux", "screen.linux", "xterm"]
    .map((TERM) => describe({ streams: TERMINALS, env: { TERM } }).isAscii);
  assertEquals(isAscii, [true, true, false]);
});
