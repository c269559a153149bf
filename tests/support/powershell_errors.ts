/**
 * Reads a PowerShell script from standard input, and writes what the grammar of
 * tree-sitter does not take as `LINE: TEXT`, one a line.
 *
 * A program of its own, with a lock of its own beside it: one test needs these
 * packages. So their names are not written as imports, which the project's lock
 * would have to hold.
 *
 * @module
 */
import { createRequire } from "node:module";

const GRAMMAR = "npm:tree-sitter-powershell@0.26.4";
const PARSER = "npm:web-tree-sitter@0.27.1";

await import(`${GRAMMAR}/package.json`, { with: { type: "json" } }); // installs it
const require = createRequire(import.meta.resolve(`${GRAMMAR}/package.json`));
const { Language, Parser } = await import(`${PARSER}`);
await Parser.init();
const parser = new Parser();
const grammar = require.resolve("./tree-sitter-powershell.wasm");
parser.setLanguage(await Language.load(await Deno.readFile(grammar)));
report(
  parser.parse(await new Response(Deno.stdin.readable).text()).rootNode,
);

/** The part of a syntax tree's node that is used here. */
interface Node {
  readonly children: readonly Node[];
  readonly isError: boolean;
  readonly isMissing: boolean;
  readonly startPosition: { readonly row: number };
  readonly text: string;
}

function report(node: Node): void {
  if (node.isError || node.isMissing) {
    console.log(`${node.startPosition.row + 1}: ${node.text}`);
  } else {
    node.children.forEach(report);
  }
}
