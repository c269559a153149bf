/** The names that the header of a table has between ` | `. */
type ColumnOf<Header extends string> = Header extends
  `${infer First} | ${infer Rest}` ? First | ColumnOf<Rest> : Header;

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

/**
 * A test for each row of a table without its first line, which is the header. In the name
 * of the tests, `{column}` is the cell of a row, or its start if that is long.
 *
 * @example
 * ```ts
 * testRows("{name} is {age} years old", "name | age", `
 * Ann | 35
 * Bob | 53
 * `, ({ name, age }) => assertEquals(ageOf(name), Number(age)));
 * ```
 */
export function testRows<Header extends string>(
  name: string,
  header: Header,
  rows: string,
  test: (row: Readonly<Record<ColumnOf<Header>, string>>) => unknown,
): void {
  for (const row of rowsOf<ColumnOf<Header>>(header + rows)) {
    const cells: Readonly<Record<string, string>> = row;
    const shown = name.replace(
      /\{(.*?)\}/g,
      (_, column) => `${cells[column]?.slice(0, 99)}`,
    );
    Deno.test(shown, async () => void await test(row));
  }
}
