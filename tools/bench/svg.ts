/** The styles of all pictures, in light and dark mode. */
const STYLE = `
  text { font: 12px system-ui, sans-serif; fill: #1f2328; }
  .title { font-size: 15px; font-weight: 600; }
  .heading { font-weight: 600; }
  .small { font-size: 11px; fill: #59636e; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; }
    .small { fill: #9198a1; }
  }`;

const LINE = 16;

/** A picture without its title and its last lines. */
export interface Picture {
  readonly title: string;
  readonly width: number;
  /** Where the last lines begin. */
  readonly height: number;
  /** More styles. */
  readonly style: string;
  readonly parts: readonly string[];
  /** Lines of text under the picture. */
  readonly lines: readonly string[];
}

/** The SVG of a picture. */
export function toSvg(picture: Picture): string {
  const { title, width, height, style, parts, lines } = picture;
  const bottom = height + (lines.length + 1) * LINE;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${bottom}" role="img" aria-labelledby="title">`,
    `<title id="title">${title}</title>`,
    `<style>${STYLE}${style}\n</style>`,
    text(0, 18, title, "title"),
    ...parts,
    ...lines.map((line, index) =>
      text(0, height + (index + 1) * LINE, line, "small")
    ),
    "</svg>",
  ].map((line) => `${line}\n`).join("");
}

/** A text of one line; `y` is its base line. */
export function text(
  x: number,
  y: number,
  content: string,
  kind = "",
  anchor = "start",
): string {
  const escaped = content.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return `<text class="${kind}" x="${
    x.toFixed(1)
  }" y="${y}" text-anchor="${anchor}">${escaped}</text>`;
}
