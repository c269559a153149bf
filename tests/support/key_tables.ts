/** Control characters by what `cat -v` prints for them: `^[` is Escape, `^?` is DEL. */
export function fromCarets(text: string): string {
  return text.replace(
    /\^([@-_?])/g,
    (_, letter: string) => String.fromCharCode(letter.charCodeAt(0) ^ 0x40),
  );
}

/** The cells of a table in a text, whose columns are two spaces or more apart. */
export function rowsOf(table: string): string[][] {
  return table.trim().split("\n").map((row) => row.trim().split(/ {2,}/));
}
