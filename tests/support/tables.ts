/**
 * The rows of a table that is written as text: a row a line, its cells separated by `|`.
 * The first line names the columns.
 *
 * @example
 * ```ts
 * for (const { name, age } of rowsOf<"name" | "age">(`
 * name | age
 * Ann  | 35
 * `)) console.log(name, age);
 * ```
 */
export function rowsOf<Column extends string>(
  table: string,
): readonly Readonly<Record<Column, string>>[] {
  const [names = [], ...rows] = table.trim().split("\n").map((line) =>
    line.split("|").map((cell) => cell.trim())
  );
  return rows.map((cells) => {
    if (cells.length !== names.length) {
      throw new Error(`Not a row of ${names}: ${cells}`);
    }
    const entries = names.map((name, index) => [name, cells[index]]);
    return Object.fromEntries(entries);
  });
}
