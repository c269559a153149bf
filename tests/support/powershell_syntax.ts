/**
 * Reads PowerShell scripts as a JSON array from standard input, and writes those that
 * tree-sitter's grammar does not take. A program of its own with its own lock: one test
 * needs these packages, and the project's lock would have to hold those of an import.
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
const scripts: string[] = await new Response(Deno.stdin.readable).json();
const refused = scripts.filter((text) => parser.parse(text).rootNode.hasError);
console.log(JSON.stringify(refused));
