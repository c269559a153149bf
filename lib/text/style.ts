/** Styles a text, which keeps its type. */
type Paint = <Text extends string>(text: Text) => Text;

/**
 * The styles of text on a terminal. Prose keeps the terminal's own colour, because many
 * palettes have hardly any contrast for red, green or dim text: only marks, words like
 * "error:" and the lines of diffs are coloured. Each of them can be read without its
 * colour.
 */
export interface Style {
  readonly red: Paint;
  readonly green: Paint;
  readonly cyan: Paint;
  readonly bold: Paint;
}

const sgr = (on: number, off: number): Paint => (text) =>
  `\x1b[${on}m${text}\x1b[${off}m` as typeof text;

export const COLOURED: Style = {
  red: sgr(31, 39),
  green: sgr(32, 39),
  cyan: sgr(36, 39),
  bold: sgr(1, 22),
};

/** Styles without any effect, for all other outputs. */
export const PLAIN: Style = {
  red: (text) => text,
  green: (text) => text,
  cyan: (text) => text,
  bold: (text) => text,
};
