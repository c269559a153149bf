import { assertEquals } from "@std/assert";
import { consoleSize } from "../../../lib/interactive/open_view.ts";
import {
  describeTerminal,
  type Terminal,
  type Wishes,
} from "../../../lib/interactive/terminal.ts";
import { COLOURED } from "../../../lib/text.ts";
import { stub } from "../../support/stubs.ts";
import { testRows } from "../../support/tables.ts";

const KINDS = { t: "terminal", l: "lines", d: "data" } as const;

/**
 * @param streams The kinds of the three streams, and of `-p` a `p`.
 * @param start Options and variables; `TERM` is `xterm` by default.
 */
function describe(streams: string, start: readonly string[]): Terminal {
  const kindOf = (index: number) =>
    KINDS[streams.charAt(index) as keyof typeof KINDS];
  const valueOf = (name: string) =>
    start.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1);
  using _ = stub(Deno.env, {
    get: (name) => valueOf(name) ?? (name === "TERM" ? "xterm" : undefined),
  });
  return describeTerminal(
    { stdin: kindOf(0), stdout: kindOf(1), stderr: kindOf(2) },
    !streams.endsWith("p"),
    {
      color: (valueOf("--color") ?? "auto") as Wishes["color"],
      plain: start.includes("--plain"),
      quiet: start.includes("--quiet"),
    },
  );
}

const EMPTY_TERM = Deno.build.os === "windows" ? "isScreen" : "!isScreen";

/** A start, and what of its terminal is so, or with `!` is not; `-`: there is none. */
testRows(
  "describeTerminal() of {streams} {start}: {found}",
  "streams | start | found | keys",
  `
  ttt     |                     | isTyped isScreen mixesReplies styled colour | Ctrl-J: new line, Ctrl-C: stop, command: exit; screen readers: --plain
  ttt     | --plain             | isTyped isScreen clean !colour              | Ctrl-J: new line, Ctrl-C: stop, command: exit
  ttt     | --quiet             | isTyped isScreen isQuiet                    |
  tdt     |                     | isTyped isScreen !mixesReplies unchanged    |
  ttd     |                     | isTyped !isScreen !colour                   | -
  ttt     | TERM=dumb           | isTyped !isScreen clean !colour             | Ctrl-C: stop, command: exit
  lll     |                     | isTyped !isScreen                           | Ctrl-C: stop, command: exit; no keys arrive: use winpty or Windows Terminal
  ddt     |                     | !isTyped !isScreen !endsProgress            | -
  tttp    |                     | !isTyped !isScreen !mixesReplies !endsProgress | -
  ddtp    |                     | !isTyped !isScreen endsProgress unchanged colour | -
  ddtp    | NO_COLOR=           | colour                                      |
  ddtp    | NO_COLOR=1          | !colour                                     |
  ddtp    | NO_COLOR=1 --color=always | colour                                |
  ddtp    | --color=never       | !colour                                     |
  dddp    | --color=always      | colour styled                               |
  ttt     | CI=                 | isScreen                                    |
  ttt     | CI=0                | isScreen                                    |
  ttt     | CI=false            | isScreen                                    |
  ttt     | CI=1                | isTyped !isScreen                           |
  ttt     | CI=yes              | isTyped !isScreen                           |
  ttt     | TERM=               | ${EMPTY_TERM}                               |
  ttt     | TERM=linux          | isAscii                                     |
  ttt     | TERM=xterm          | !isAscii                                    |
`,
  ({ streams, start, found, keys }) => {
    const terminal = describe(streams, start.split(" "));
    const facts: Readonly<Record<string, unknown>> = {
      ...terminal,
      colour: terminal.style === COLOURED,
      [terminal.replies]: true,
    };
    for (const word of found.split(" ")) {
      const name = word.replace("!", "");
      assertEquals(facts[name], name === word, name);
    }
    if (keys !== "") assertEquals<unknown>(terminal.keys ?? "-", keys);
  },
);

Deno.test("consoleSize() is 80 columns and 24 rows on a terminal that does not tell", () => {
  using _ = stub(Deno, { consoleSize: () => ({ columns: 0, rows: 0 }) });
  assertEquals(consoleSize(), { columns: 80, rows: 24 });
});
