/**
 * Has V8 compile what most starts call when it loads the bundle. Deno's code cache keeps
 * that; a function that is called first later is compiled in each process again, which
 * took 2.4 of the 37 ms of a prompt from the shell. V8 compiles a function at the load if
 * it is an expression in parentheses.
 *
 * `eager_functions.txt` lists the functions. This writes it anew, with what the demo calls:
 *
 *     deno task eager
 *
 * @module
 */
import { SourceMap } from "node:module";
import { Script } from "node:vm";
import { runCommand } from "./run_command.ts";
import { runTool, ToolError } from "./tool_error.ts";

const ROOT = `${import.meta.dirname}/..`;
const LIST = `${import.meta.dirname}/eager_functions.txt`;

/** What precedes the source map in a bundle. */
const MAP = "//# sourceMappingURL=data:application/json;base64,";

/** The bundler's function that gets the code of each module. */
const MODULE = /([\w$]+)=\((\w+),(\w+)\)=>\(\)=>\(\2&&\(\3=\2\(\2=0\)\),\3\)/;

/** In a bundle: a function with its name, or a call with a function. */
const PLACE =
  /((?:async )?function\*?) ?([\w$]+)(?=\()|([\w$]+)\((?=\(\)=>\{)/g;

/** The function that a line of the source declares at the top level. */
function declaredName(line = ""): string | undefined {
  return /^(?:export )?(?:async )?function\*? (\w+)/.exec(line)?.[1];
}

/** The names in the list. */
export async function eagerFunctions(): Promise<readonly string[]> {
  return (await Deno.readTextFile(LIST)).trim().split(/\s+/);
}

/**
 * Puts the code of modules and the functions of these names in parentheses. All functions
 * that can be arrow functions become some, which is shorter. They move to the beginning:
 * expressions, unlike declarations, do not exist before their place.
 *
 * @param file The minified output of the bundler, with an inline source map.
 * @returns The same program, without the source map.
 * @throws {ToolError} If the program lacks one of the functions.
 */
export function compileAtLoad(file: string, names: readonly string[]): string {
  const [code = "", map = ""] = file.split(MAP);
  const nameAt = nameFinder(code, map);
  const module = MODULE.exec(code)?.[1] ?? "";
  const missing = new Set(names);
  const functions: string[] = [];
  let rest = "";
  let done = 0;
  for (const match of code.matchAll(PLACE)) {
    const { index, 0: head, 1: keyword = "", 2: id = "", 3: called } = match;
    const start = index + head.length;
    const name = called === module ? "" : nameAt(start - id.length);
    if (index < done || name === undefined) continue;
    const end = endOfFunction(code, name === "" ? start : index);
    const text = code.slice(start, end);
    if (name === "") rest += `${code.slice(done, start)}(${text})`;
    else {
      const arrow = keyword === "function" && arrowFunction(text);
      const value = arrow || keyword + text;
      functions.push(`${id}=${names.includes(name) ? `(${value})` : value}`);
      missing.delete(name);
      rest += code.slice(done, index);
    }
    done = end;
  }
  if (missing.size > 0) {
    const list = [...missing].join(", ");
    throw new ToolError(
      `The program lacks functions that tools/eager_functions.txt names: ${list}; correct their names, or run deno task eager`,
    );
  }
  return `var ${functions.join(",")};${rest}${code.slice(done)}`;
}

/** Returns a function that finds the name, in the source, of a function of a bundle. */
function nameFinder(code: string, encodedMap: string) {
  const json = new TextDecoder().decode(Uint8Array.fromBase64(encodedMap));
  const payload = JSON.parse(json);
  const map = new SourceMap(payload);
  return (index: number): string | undefined => {
    const before = code.slice(0, index).split("\n");
    const column = before.at(-1)?.length ?? 0;
    const entry = { ...map.findEntry(before.length - 1, column) };
    const source = payload.sources.indexOf(entry.originalSource);
    const text: string | undefined = payload.sourcesContent[source];
    return declaredName(text?.split("\n")[entry.originalLine ?? 0]);
  };
}

/** Where the function that begins at `start` ends: where V8 can first parse it. */
function endOfFunction(code: string, start: number): number {
  for (let end = start; (end = code.indexOf("}", end) + 1) > 0;) {
    if (isExpression(code.slice(start, end))) return end;
  }
  throw new ToolError(`No function: ${code.slice(start, start + 80)}`);
}

/** A function without its keyword and name as an arrow function, if it can be one. */
function arrowFunction(text: string): string | undefined {
  if (/\b(?:this|arguments)\b/.test(text)) return undefined;
  for (let end = 0; (end = text.indexOf("){", end) + 1) > 0;) {
    const parameters = text.slice(0, end).replace(/^\(([\w$]+)\)$/, "$1");
    const arrow = `${parameters}=>${text.slice(end)}`;
    if (isExpression(arrow)) return arrow;
  }
  return undefined;
}

function isExpression(code: string): boolean {
  try {
    new Script(`(${code})`);
    return true;
  } catch {
    return false;
  }
}

/** Writes the names of the functions that the demo calls into the list. */
async function main(): Promise<void> {
  const folder = await Deno.makeTempDir();
  const task = [Deno.execPath(), "task", "-q", "demo"];
  const options = { cwd: ROOT, env: { DENO_COVERAGE_DIR: folder } };
  await runCommand(task, options);
  await runCommand([...task, "--bridge"], options);
  const called = new Set<string>();
  for await (const file of Deno.readDir(folder)) {
    const text = await Deno.readTextFile(`${folder}/${file.name}`);
    const { url, functions } = JSON.parse(text);
    if (!/\/(?:lib\/.+|main)\.ts$/.test(url)) continue;
    const source = await Deno.readTextFile(new URL(url));
    const declared = source.split("\n").map(declaredName);
    for (const { functionName: name, ranges: [{ count }] } of functions) {
      if (count > 0 && declared.includes(name)) called.add(name);
    }
  }
  await Deno.remove(folder, { recursive: true });
  const words = [...called].sort().join(" ");
  await Deno.writeTextFile(LIST, words.replaceAll(/(.{1,79})(?: |$)/g, "$1\n"));
}

if (import.meta.main) await runTool(main);
