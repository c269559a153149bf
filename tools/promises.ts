const FILE = `${import.meta.dirname}/../tests/project/promises.txt`;

/** A promise of `SECURITY.md`. */
export interface SecurityPromise {
  /** It stays the same when others come and go. */
  readonly number: number;
  /** In Markdown. */
  readonly text: string;
  readonly tests: readonly { readonly file: string; readonly name: string }[];
}

/** The promises in `tests/project/promises.txt`, by the names of their sections. */
export const PROMISES: Readonly<Record<string, readonly SecurityPromise[]>> =
  Object.fromEntries(
    Deno.readTextFileSync(FILE).split(/^## /m).slice(1).map((section) => {
      const [name = "", ...promises] = section.split(/\n+(?=\d+\. )/);
      return [name, promises.map(parsePromise)];
    }),
  );

function parsePromise(paragraph: string): SecurityPromise {
  const [first = "", ...rows] = paragraph.trimEnd().split("\n");
  const [, number, text = ""] = /^(\d+)\. (.*)$/.exec(first) ?? [];
  const tests = rows.map((row) => {
    const [, file = "", name = ""] = /^ {2}(\S+): (.*)$/.exec(row) ?? [];
    return { file, name };
  });
  return { number: Number(number), text, tests };
}
