/**
 * Joins the parts of the program into one file. Each part becomes a function, which is
 * called when the part is first imported: a start runs only the parts that it uses.
 *
 * The parts of most starts are compiled when V8 loads the file. Deno's code cache keeps
 * that; a function that is first called later is compiled again in each process. V8
 * compiles a function at the load if it is an expression in parentheses.
 *
 * @module
 */
import { Script } from "node:vm";
import { ToolError } from "./tool_error.ts";

/** The modules that bridge mode, or a prompt from the shell, uses. */
const EAGER = [
  ...["main", "bridge", "gateway", "interactive"],
  ...["run_stream", "service_client"],
];

// Imports and exports as the bundler writes them, and the start of a named function.
const IMPORT = /import(?:\{([^}]*)\}from)?"\.\/([\w-]+\.js)";/g;
const DYNAMIC_IMPORT = /import\("\.\/([\w-]+\.js)"\)/g;
const EXPORT = /export\{([^}]*)\};\s*$/;
const ALIAS = /([\w$]+) as ([\w$]+)/g;
const FUNCTION = /((?:async )?function\*?) ?([\w$]+)(?=\()/g;

/**
 * Joins parts.
 *
 * @param parts The minified output of the bundler by file names, such as `bridge-0.js`.
 * The program begins in `main.js`.
 * @throws {ToolError} If there is no part for a module of `EAGER`.
 */
export function joinParts(parts: Readonly<Record<string, string>>): string {
  // The bundler gives shorter identifiers, so these are free.
  const ids = new Map(Object.keys(parts).map((name, i) => [name, `part${i}`]));
  const eager = new Set(EAGER.map((module) => {
    const name = Object.keys(parts).find((name) =>
      name.replace(/(?:-\w+)?\.js$/, "") === module
    );
    if (name !== undefined) return name;
    throw new ToolError(
      `The program has no part "${module}": correct EAGER in tools/joined_parts.ts`,
    );
  }));
  for (const name of eager) {
    // The loop visits what it adds.
    for (const [, , from = ""] of parts[name]?.matchAll(IMPORT) ?? []) {
      eager.add(from);
    }
  }
  const bodies = new Map(
    Object.entries(parts).map(([name, part]) => {
      let imports = "";
      const code = part.replaceAll(IMPORT, (_, list, from) => {
        if (list) imports += `let{${list.replaceAll(ALIAS, "$1:$2")}}=`;
        imports += `${ids.get(from)}();`;
        return "";
      })
        .replaceAll(DYNAMIC_IMPORT, (_, from) => `load(${ids.get(from)})`)
        .replace(
          EXPORT,
          (_, list) => `return{${list.replaceAll(ALIAS, "$2:$1")}}`,
        );
      return [name, imports + (eager.has(name) ? functionsFirst(code) : code)];
    }),
  );
  const main = bodies.get("main.js");
  bodies.delete("main.js");
  const definitions = Array.from(bodies, ([name, body]) => {
    const call = `()=>{${body}}`;
    return `${ids.get(name)}=once(${eager.has(name) ? `(${call})` : call})`;
  });
  const helpers = "once=f=>{let e;return()=>e??=f()},load=async f=>f()";
  return `let ${[helpers, ...definitions].join(",\n")};\n${main}`;
}

/**
 * Moves the functions of a part to its beginning, as expressions in parentheses: unlike
 * declarations, these do not exist before their place.
 */
function functionsFirst(code: string): string {
  const definitions: string[] = [];
  let rest = "";
  let done = 0;
  for (const match of code.matchAll(FUNCTION)) {
    const { index, 0: { length }, 1: keyword, 2: id } = match;
    // A function within another one, or within a class, stays there.
    if (index < done || !isScript(code.slice(0, index))) continue;
    let end = code.indexOf("}", index) + 1;
    while (!isScript(code.slice(index, end))) end = code.indexOf("}", end) + 1;
    const text = code.slice(index + length, end);
    definitions.push(`${id}=(${keyword}${text})`);
    rest += code.slice(done, index);
    done = end;
  }
  rest += code.slice(done);
  return definitions.length === 0
    ? rest
    : `let ${definitions.join(",")};${rest}`;
}

function isScript(code: string): boolean {
  try {
    new Script(code);
    return true;
  } catch {
    return false;
  }
}
