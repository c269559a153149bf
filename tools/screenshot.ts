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

async function readPicture(): Promise<string | undefined> {
  try {
    return await Deno.readTextFile(PICTURE);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

export interface TerminalSvgOptions {
  /** The width of the terminal, in columns. */
  readonly columns: number;
  /** The text of the window's title bar. */
  readonly title: string;
  /** A description of the picture for readers who cannot see it. */
  readonly description: string;
}

interface Style {
  readonly bold: boolean;
  readonly dim: boolean;
  readonly italic: boolean;
  readonly underlined: boolean;
  readonly colour: number | undefined;
}

interface Span {
  readonly text: string;
  readonly style: Style;
}

const PLAIN: Style = {
  bold: false,
  dim: false,
  italic: false,
  underlined: false,
  colour: undefined,
};

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

const COLOURS: Readonly<Record<number, string>> = {
  31: "red",
  32: "green",
  36: "cyan",
};

/**
 * Draws the text of a terminal as an SVG picture in which the text can be selected.
 *
 * @param screen Rows of text with the escape codes of colours (SGR), as
 * `tmux capture-pane -e` prints them.
 * @throws {Error} If there is an unknown escape code.
 */
export function terminalSvg(
  screen: string,
  { columns, title, description }: TerminalSvgOptions,
): string {
  const rows = readRows(screen);
  const width = Math.ceil(columns * COLUMN + 2 * MARGIN);
  const height = TITLE_BAR + rows.length * ROW + MARGIN;
  const lines = rows.flatMap((row, index) =>
    drawRow(row, TITLE_BAR + index * ROW + FONT_SIZE)
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" ` +
    `height="${height}" viewBox="0 0 ${width} ${height}" role="img" ` +
    'xml:space="preserve">',
    `<title>${escape(description)}</title>`,
    `<style>${CSS}</style>`,
    `<rect class="window" x=".5" y=".5" width="${width - 1}" ` +
    `height="${height - 1}" rx="9.5"/>`,
    '<circle cx="20" cy="18" r="6" fill="#f85149"/>',
    '<circle cx="40" cy="18" r="6" fill="#d29922"/>',
    '<circle cx="60" cy="18" r="6" fill="#3fb950"/>',
    `<text class="title" x="${width / 2}" y="23">${escape(title)}</text>`,
    ...lines,
    "</svg>",
    "",
  ].join("\n");
}

/** Splits text with escape codes into rows of spans. */
function readRows(screen: string): Span[][] {
  let style = PLAIN;
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

function changed(style: Style, numbers: string): Style {
  for (const number of numbers.split(";").map(Number)) {
    if (number === 0) style = PLAIN;
    else if (number === 1) style = { ...style, bold: true };
    else if (number === 2) style = { ...style, dim: true };
    else if (number === 3) style = { ...style, italic: true };
    else if (number === 4) style = { ...style, underlined: true };
    else if (number === 22) style = { ...style, bold: false, dim: false };
    else if (number === 23) style = { ...style, italic: false };
    else if (number === 24) style = { ...style, underlined: false };
    else if (number === 39) style = { ...style, colour: undefined };
    else if (COLOURS[number]) style = { ...style, colour: number };
    else if (number !== 49) throw new Error(`Cannot draw SGR ${number}`);
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
    const name = className(style);
    return [
      `<text${name && ` class="${name}"`} x="${x}" y="${y}" ` +
      `textLength="${length}">${escape(shown)}</text>`,
    ];
  });
}

function className(style: Style): string {
  const { bold, dim, italic, underlined, colour } = style;
  return [
    ...(bold ? ["bold"] : []),
    ...(dim ? ["dim"] : []),
    ...(italic ? ["italic"] : []),
    ...(underlined ? ["underlined"] : []),
    ...(colour === undefined ? [] : [COLOURS[colour]]),
  ].join(" ");
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
  const picture = terminalSvg(exampleOf(await playSession()), {
    columns: COLUMNS,
    title: "agent-gateway",
    description: "A session with agent-gateway in a terminal",
  });
  if (!Deno.args.includes("--check")) {
    await Deno.mkdir(`${PICTURE}/..`, { recursive: true });
    await Deno.writeTextFile(PICTURE, picture);
    console.log(`docs/session.svg: ${picture.length} bytes`);
  } else if (await readPicture() !== picture) {
    console.error(
      "docs/session.svg is not what the program shows: run deno task screenshot",
    );
    Deno.exit(1);
  }
}
