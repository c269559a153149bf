import { assertEquals } from "@std/assert";
import { consoleSize } from "../../../lib/interactive/console_size.ts";
import {
  describeTerminal,
  type Terminal,
  type Wishes,
} from "../../../lib/interactive/terminal.ts";
import type { StreamKind } from "../../../lib/io.ts";
import { COLOURED, PLAIN } from "../../../lib/text.ts";

/** The options of a start, and its variables; `TERM` is `xterm` by default. */
interface Start {
  readonly wishes?: Partial<Wishes>;
  readonly env?: Readonly<Record<string, string>>;
}

const KINDS = { t: "terminal", l: "lines", d: "data" } as const;

/** @param streams The kinds of the three streams, and of `-p` a `p`. */
function describe(streams: string, { wishes, env }: Start): Terminal {
  const { get } = Deno.env;
  Deno.env.get = (name) => ({ TERM: "xterm", ...env })[name];
  const kind = (at: number): StreamKind =>
    KINDS[streams.charAt(at) as keyof typeof KINDS];
  const usual = { color: "auto", plain: false, quiet: false } as const;
  try {
    return describeTerminal(
      { stdin: kind(0), stdout: kind(1), stderr: kind(2) },
      !streams.endsWith("p"),
      { ...usual, ...wishes },
    );
  } finally {
    Deno.env.get = get;
  }
}

const DUMB_KEYS = "Ctrl-C: stop, command: exit";
const KEYS = `Ctrl-J: new line, ${DUMB_KEYS}`;
const SCREEN = { isTyped: true, isScreen: true };
const LINES = { isTyped: true, isScreen: false };
const SCRIPT = { isTyped: false, isScreen: false, keys: undefined };
const NO_COLOR = { NO_COLOR: "1" };
const ALWAYS = { color: "always" } as const;
const env = (env: Record<string, string>): Start => ({ env });

/** What starts, and a part of what is found. */
const STARTS: readonly (readonly [
  streams: string,
  Start,
  found: Partial<Record<keyof Terminal, unknown>>,
])[] = [
  ["ttt", {}, { ...SCREEN, mixesReplies: true, replies: "styled" }],
  ["ttt", {}, { style: COLOURED, keys: `${KEYS}; screen readers: --plain` }],
  ["ttt", { wishes: { plain: true } }, {
    ...{ ...SCREEN, replies: "clean", style: PLAIN, keys: KEYS },
  }],
  ["ttt", { wishes: { quiet: true } }, SCREEN],
  ["tdt", {}, { ...SCREEN, mixesReplies: false, replies: "unchanged" }],
  ["ttd", {}, { ...LINES, keys: undefined, style: PLAIN }],
  ["ttt", env({ TERM: "dumb" }), { ...LINES, replies: "clean" }],
  ["ttt", env({ TERM: "dumb" }), { style: PLAIN, keys: DUMB_KEYS }],
  ["lll", {}, {
    ...LINES,
    keys: `${DUMB_KEYS}; no keys arrive: use winpty or Windows Terminal`,
  }],
  ["ddt", {}, { ...SCRIPT, endsProgress: false }],
  ["tttp", {}, { ...SCRIPT, mixesReplies: false, endsProgress: false }],
  ["ddtp", {}, { ...SCRIPT, endsProgress: true, replies: "unchanged" }],
  ["ddtp", {}, { style: COLOURED }],
  ["ddtp", env({ NO_COLOR: "" }), { style: COLOURED }],
  ["ddtp", env(NO_COLOR), { style: PLAIN }],
  ["ddtp", { env: NO_COLOR, wishes: ALWAYS }, { style: COLOURED }],
  ["ddtp", { wishes: { color: "never" } }, { style: PLAIN }],
  ["dddp", { wishes: ALWAYS }, { style: COLOURED, replies: "styled" }],
  ...["", "0", "false"].map((CI) => ["ttt", env({ CI }), SCREEN] as const),
  ...["1", "yes"].map((CI) => ["ttt", env({ CI }), LINES] as const),
  ["ttt", env({ TERM: "" }), { isScreen: Deno.build.os === "windows" }],
  // The fonts of the Linux console lack most characters.
  ["ttt", env({ TERM: "linux" }), { isAscii: true }],
  ["ttt", env({ TERM: "screen.linux" }), { isAscii: true }],
  ["ttt", {}, { isAscii: false }],
];
for (const [streams, start, found] of STARTS) {
  Deno.test(`describeTerminal() of ${streams} with ${JSON.stringify(start)}: ${Object.keys(found)}`, () => {
    const terminal = describe(streams, start);
    for (const [name, value] of Object.entries(found)) {
      assertEquals<unknown>(terminal[name as keyof Terminal], value, name);
    }
  });
}

Deno.test("consoleSize() is 80 columns and 24 rows on a terminal that does not tell", () => {
  const { consoleSize: real } = Deno;
  try {
    Object.assign(Deno, { consoleSize: () => ({ columns: 0, rows: 0 }) });
    assertEquals(consoleSize(), { columns: 80, rows: 24 });
  } finally {
    Object.assign(Deno, { consoleSize: real });
  }
});
