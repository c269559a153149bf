/** The styles of text on a terminal. */
export interface Style {
  readonly dim: (text: string) => string;
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
  readonly cyan: (text: string) => string;
  readonly bold: (text: string) => string;
}

const sgr = (on: number, off: number) => (text: string) =>
  `\x1b[${on}m${text}\x1b[${off}m`;

/** Styles for terminals that may show colour. */
export const COLOURED: Style = {
  dim: sgr(2, 22),
  red: sgr(31, 39),
  green: sgr(32, 39),
  cyan: sgr(36, 39),
  bold: sgr(1, 22),
};

/** Styles without any effect, for all other outputs. */
export const PLAIN: Style = {
  dim: (text) => text,
  red: (text) => text,
  green: (text) => text,
  cyan: (text) => text,
  bold: (text) => text,
};
