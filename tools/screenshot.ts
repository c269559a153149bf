/**
 * Makes `docs/session.svg`, a picture of the real program at work: in a terminal
 * (tmux), against the reference service.
 *
 *     deno task screenshot           makes it
 *     deno task screenshot --check   exits 1 if it is not up to date
 *
 * What differs from run to run is replaced by a fixed example: the id of the
 * thread, the port, and all times.
 *
 * @module
 */
import { unicodeWidth } from "@std/cli/unicode-width";
import { settings } from "../tests/support/client_process.ts";
import { Screen } from "../tests/support/tmux_screen.ts";
import { GatedStream } from "../tests/support/service/gated_stream.ts";
import { ReferenceService } from "../tests/support/service/service.ts";

const PICTURE = `${import.meta.dirname}/../docs/session.svg`;
const TITLE = "agent-gateway";
const DESCRIPTION = "A session with agent-gateway in a terminal";
const COLUMNS = 80;

const THREAD_ID = "0b9f724d-ae5e-4f75-aaea-af5a200febf5";
const ORIGIN = "http://127.0.0.1:8080";
const TIMES = ["1.2 s", "3.4 s", "4.6 s", "0.8 s", "1.9 s"];

/** The rows of the first prompt. */
const PROMPT = ["What is wrong here?", "if (user = admin) grantAccess();"];

const REPLY = [
  "## A typo with consequences",
  "",
  "`=` assigns, so the condition is **always true**:",
  "*everybody* gets access.",
  "",
  "1. Compare with `===`.",
  "2. Turn on [no-cond-assign](https://docs.deno.com/lint).",
].join("\n");

/** Completes one run, starts another, and returns the screen at that point. */
async function playSession(): Promise<string> {
  const first = new GatedStream();
  const second = new GatedStream();
  await using service = ReferenceService.start();
  await using screen = await Screen.open({
    columns: COLUMNS,
    env: settings(service),
  });
  await screen.enter("agent-gateway");
  await screen.waitFor(/^>$/m);
  service.misbehave("stream", first.behaviour);
  await screen.paste(PROMPT.join("\n"));
  await screen.waitFor(PROMPT.at(-1) ?? "");
  await screen.press("Enter");
  first.progress("plan", "started");
  await screen.waitFor("plan: started");
  first.progress("plan", "done");
  first.progress("write", "started");
  first.progress("write", "done");
  first.complete(REPLY);
  await screen.waitFor(/no-cond-assign.*\n\n>$/m);
  service.misbehave("stream", second.behaviour);
  await screen.enter("Show me the fixed line.");
  second.progress("plan", "done");
  second.progress("recall", "1 earlier prompt");
  await screen.waitFor("recall: 1 earlier prompt");
  return await screen.colours();
}

/** The screen's text below the shell's command line, with the fixed examples. */
function exampleOf(screen: string): string {
  const times = TIMES.values();
  return screen.slice(screen.indexOf("\n") + 1).trimEnd()
    .replace(/[0-9a-f-]{36}/, THREAD_ID)
    .replace(/http:\/\/127\.0\.0\.1:\d+/, ORIGIN)
    .replace(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/, "⠹")
    .replace(/\b\d+(?:\.\d)? s\b/g, (time) => times.next().value ?? time);
}

interface Span {
  readonly text: string;
  /** Names of classes. */
  readonly style: readonly string[];
}

const ESCAPE = "\x1b";
const FONT_SIZE = 14;
const COLUMN = 8.4;
const ROW = 20;
const MARGIN = 18;
const TITLE_BAR = 36;

const CSS = [
  ".window{fill:#161b22;stroke:#30363d}",
  `text{font:${FONT_SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,` +
  '"DejaVu Sans Mono",monospace;fill:#d1d7e0}',
  ".title{fill:#8b949e;text-anchor:middle}",
  ".bold{font-weight:700;fill:#f0f6fc}",
  ".dim{fill:#8b949e}",
  ".italic{font-style:italic}",
  ".underlined{text-decoration:underline}",
  ".red{fill:#ff7b72}",
  ".green{fill:#56d364}",
  ".cyan{fill:#76e3ea}",
].join("");

/** The class that an SGR code turns on. */
const ON: Readonly<Record<number, string>> = {
  1: "bold",
  2: "dim",
  3: "italic",
  4: "underlined",
  31: "red",
  32: "green",
  36: "cyan",
};

/** The classes that an SGR code turns off. */
const OFF: Readonly<Record<number, readonly string[]>> = {
  0: Object.values(ON),
  22: ["bold", "dim"],
  23: ["italic"],
  24: ["underlined"],
  39: ["red", "green", "cyan"],
  49: [], // the background, which is never coloured
};

/**
 * Draws the text of a terminal as an SVG picture in which the text can be selected.
 *
 * @param screen Rows of text with the escape codes of colours (SGR), as
 * `tmux capture-pane -e` prints them.
 * @throws {Error} If there is an unknown escape code.
 */
export function terminalSvg(screen: string): string {
  const rows = readRows(screen);
  const width = Math.ceil(COLUMNS * COLUMN + 2 * MARGIN);
  const height = TITLE_BAR + rows.length * ROW + MARGIN;
  const lines = rows.flatMap((row, index) =>
    drawRow(row, TITLE_BAR + index * ROW + FONT_SIZE)
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" ` +
    `height="${height}" viewBox="0 0 ${width} ${height}" role="img" ` +
    'xml:space="preserve">',
    `<title>${DESCRIPTION}</title>`,
    `<style>${CSS}</style>`,
    `<rect class="window" x=".5" y=".5" width="${width - 1}" ` +
    `height="${height - 1}" rx="9.5"/>`,
    '<circle cx="20" cy="18" r="6" fill="#f85149"/>',
    '<circle cx="40" cy="18" r="6" fill="#d29922"/>',
    '<circle cx="60" cy="18" r="6" fill="#3fb950"/>',
    `<text class="title" x="${width / 2}" y="23">${TITLE}</text>`,
    ...lines,
    "</svg>",
    "",
  ].join("\n");
}

/** Splits text with escape codes into rows of spans. */
function readRows(screen: string): Span[][] {
  let style: readonly string[] = [];
  return screen.split("\n").map((row) => {
    const [start = "", ...parts] = row.split(ESCAPE);
    const spans: Span[] = [{ text: start, style }];
    for (const part of parts) {
      const [code = "", numbers] = /^\[([\d;]*)m/.exec(part) ?? [];
      if (numbers === undefined) {
        throw new Error(`Cannot draw the escape code ${JSON.stringify(part)}`);
      }
      style = changed(style, numbers);
      spans.push({ text: part.slice(code.length), style });
    }
    return spans;
  });
}

function changed(
  style: readonly string[],
  numbers: string,
): readonly string[] {
  for (const number of numbers.split(";").map(Number)) {
    const [on, off] = [ON[number], OFF[number]];
    if (on !== undefined) style = [...style, on];
    else if (off !== undefined) style = style.filter((c) => !off.includes(c));
    else throw new Error(`Cannot draw SGR ${number}`);
  }
  return style;
}

/** One text element for each span that shows something. */
function drawRow(spans: readonly Span[], y: number): string[] {
  let column = 0;
  return spans.flatMap(({ text, style }) => {
    const start = column + text.length - text.trimStart().length;
    column += unicodeWidth(text);
    const shown = text.trim();
    if (shown === "") return [];
    const x = coordinate(MARGIN + start * COLUMN);
    // The columns do not depend on the width of the font's characters.
    const length = coordinate(unicodeWidth(shown) * COLUMN);
    const name = style.join(" ");
    return [
      `<text${name && ` class="${name}"`} x="${x}" y="${y}" ` +
      `textLength="${length}">${escape(shown)}</text>`,
    ];
  });
}

function coordinate(value: number): string {
  return `${Math.round(value * 10) / 10}`;
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

if (import.meta.main) {
  if (Deno.args.some((argument) => argument !== "--check")) {
    console.error("Usage: deno task screenshot [--check]");
    Deno.exit(2);
  }
  const picture = terminalSvg(exampleOf(await playSession()));
  if (!Deno.args.includes("--check")) {
    await Deno.writeTextFile(PICTURE, picture);
    console.log(`docs/session.svg: ${picture.length} bytes`);
  } else if (await Deno.readTextFile(PICTURE) !== picture) {
    console.error(
      "docs/session.svg is not what the program shows: run deno task screenshot",
    );
    Deno.exit(1);
  }
}
