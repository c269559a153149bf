/**
 * Tests as texts: tables, and scripts of what somebody does at a terminal and sees there.
 *
 * @module
 */

/** Control characters by what `cat -v` prints for them: `^[` is Escape, `^?` is DEL. */
export function fromCarets(text: string): string {
  return text.replace(
    /\^([@-_?])/g,
    (_, letter: string) => String.fromCharCode(letter.charCodeAt(0) ^ 0x40),
  );
}

/** The cells of a table about keys, which may be any: columns are two spaces apart. */
export function keyRows(table: string): string[][] {
  return table.trim().split("\n").map((row) => row.trim().split(/ {2,}/));
}

/**
 * The steps of a script, one a line, as their verb and the rest. Lines that follow each
 * other and begin with `|` are one step: the rows that a terminal shows.
 */
export function stepsOf(script: string): [verb: string, text: string][] {
  const steps: [verb: string, text: string][] = [];
  for (const line of script.split("\n").filter((line) => line.trim() !== "")) {
    const [, verb = "", text = ""] = /^ *(\S+) ?([^]*)$/.exec(line) ?? [];
    const last = steps.at(-1);
    if (verb === "|" && last?.[0] === "|") last[1] += `\n${text}`;
    else steps.push([verb, text]);
  }
  return steps;
}
