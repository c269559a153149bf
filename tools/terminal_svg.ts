import { unicodeWidth } from "@std/cli/unicode-width";

/** Options of {@linkcode terminalSvg}. */
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
 * Draws a terminal as an SVG picture with selectable text.
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
