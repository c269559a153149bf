/**
 * Prints how many tokens the tests have, by folder, and for each token of `lib/`. The exit
 * code is 1 if they have more than the limit: they take time to read, and to change.
 *
 *     deno task tokens
 *
 * @module
 */
import ts from "typescript";
import { globSync } from "node:fs";

/** The most tokens of tests for each token of `lib/`. Raise it only on purpose. */
const LIMIT = 2.1;

/** The number of tokens in the files that a pattern matches, without comments. */
function tokensOf(pattern: string): number {
  return globSync(pattern).reduce((sum, file) => sum + tokensIn(file), 0);
}

function tokensIn(file: string): number {
  const text = Deno.readTextFileSync(file);
  const { Latest } = ts.ScriptTarget;
  const source = ts.createSourceFile(file, text, Latest, true);
  const count = (node: ts.Node): number => {
    if (ts.isJSDoc(node)) return 0;
    const children = node.getChildren(source);
    if (children.length === 0) return node.getWidth(source) > 0 ? 1 : 0;
    return children.reduce((sum, child) => sum + count(child), 0);
  };
  return count(source);
}

const lib = tokensOf("lib/**/*.ts") + tokensIn("main.ts");
let tests = 0;
for (const folder of globSync("tests/*").sort()) {
  const tokens = tokensOf(`${folder}/**/*.ts`);
  console.log(`${folder} ${tokens}`);
  tests += tokens;
}
const ratio = (tests / lib).toFixed(2);
console.log(
  `lib ${lib}, tests ${tests}: ${ratio} of tests for each (at most ${LIMIT})`,
);
if (tests > LIMIT * lib) Deno.exit(1);
