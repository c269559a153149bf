import { bundle, bundleParts, clientPermissionFlags } from "../bundle.ts";
import { compile, CompileError } from "../compile.ts";
import { runCommand } from "../run_command.ts";

const PEERS = `${import.meta.dirname}/peers`;

/** The file of the program that does the client's work with `fetch` alone. */
export const FLOOR = `${PEERS}/floor.ts`;

/**
 * The npm packages of the programs that the client is compared with, and their versions.
 */
export const PEER_VERSIONS: Readonly<Record<string, string>> = {
  "@agentclientprotocol/sdk": "2.4.0",
  "@langchain/langgraph-sdk": "2.0.0",
  "@types/json-schema": "7.0.15",
  eventemitter3: "5.0.4",
  "eventsource-parser": "4.1.3",
  "is-network-error": "1.3.2",
  "p-queue": "9.3.5",
  "p-retry": "7.1.1",
  "p-timeout": "7.0.2",
  uuid: "13.0.2",
  zod: "4.6.7",
};

/** A program and its arguments. */
export type Command = readonly string[];

/** How the client and the empty program are built; Deno runs the bundle as npm's does. */
export type Form = "bundle" | "binary";

/** What a program is to do. */
export interface CommandOptions {
  /** The default is the bundle. */
  readonly form?: Form;
  /** The prompt to run. By default a program is a bridge. */
  readonly prompt?: string;
  /** Whether it prints a line for each event of the prompt; by default only the reply. */
  readonly printsEvents?: boolean;
}

/** The programs that the tables compare. */
export interface Programs {
  /** The forms that are measured. */
  readonly forms: readonly Form[];
  /** The command of a program by its name in the tables. */
  readonly command: (subject: string, options: CommandOptions) => Command;
}

/** Prints the answer to `initialize` that `AgentProcess` waits for. */
export const EMPTY = `console.log('{"jsonrpc":"2.0","id":1,"result":{}}');\n`;

/**
 * Builds the client as `deno task bundle` and `deno task compile` do, and an empty
 * program in the same forms; installs the peers. The bundle that `AGENT_GATEWAY`
 * names is measured in place of both forms.
 *
 * @param folder Where the programs are written.
 * @param quick Whether the binary is left out.
 * @throws If there is no npm, or no registry the first time.
 */
export async function preparePrograms(
  folder: string,
  quick: boolean,
): Promise<Programs> {
  const named = Deno.env.get("AGENT_GATEWAY");
  const [path, empty] = [named ?? `${folder}/client.js`, `${folder}/empty.js`];
  if (named === undefined) await Deno.writeTextFile(path, await bundle());
  await Deno.writeTextFile(empty, EMPTY);
  const built: Partial<Record<Form, Readonly<Record<string, Command>>>> = {
    bundle: { ours: runScript(path, NPM_FLAGS), empty: runScript(empty) },
  };
  try {
    if (named === undefined && !quick) {
      built.binary = {
        ours: await compileInto(`${folder}/ours`, await bundleParts()),
        empty: await compileInto(`${folder}/empty`, { "main.js": EMPTY }),
      };
    }
  } catch (error) {
    if (!(error instanceof CompileError)) throw error;
    console.error(`The binary is not measured: ${error.message}`);
  }
  const peers = await installPeers();
  return {
    forms: built.binary === undefined ? ["bundle"] : ["bundle", "binary"],
    command(subject, options) {
      const { form = "bundle", prompt, printsEvents } = options;
      const command = { ...peers, ...built[form] }[subject] ?? [];
      const flags = prompt === undefined ? ["--bridge"] : ["-q", "-p"];
      return [
        ...command,
        ...subject === "ours" ? flags : [],
        ...prompt === undefined ? [] : [prompt],
        ...printsEvents ? ["--json"] : [],
      ];
    },
  };
}

/** What the launcher of the npm package adds: all functions are compiled once. */
export const NPM_FLAGS = ["--v8-flags=--no-lazy"];

/** The command that runs one file on this Deno with the permissions of the client. */
export function runScript(
  path: string,
  flags: readonly string[] = [],
): Command {
  const own = ["-q", "--no-config", ...clientPermissionFlags];
  return [Deno.execPath(), "run", ...flags, ...own, path];
}

async function compileInto(
  folder: string,
  program: Readonly<Record<string, string>>,
): Promise<Command> {
  await Deno.mkdir(folder);
  return [await compile({ program, target: Deno.build.target, folder })];
}

/** Installs the peers' packages in the system's cache, and copies the peers there. */
async function installPeers(): Promise<Readonly<Record<string, Command>>> {
  const cache = Deno.env.get("XDG_CACHE_HOME") ??
    `${Deno.env.get("HOME")}/.cache`;
  const folder = `${cache}/agent-gateway-bench/peers`;
  await Deno.mkdir(folder, { recursive: true });
  const packages = Object.entries(PEER_VERSIONS).map((pair) => pair.join("@"));
  const installed = `${folder}/installed.txt`;
  const list = packages.join("\n");
  if (await Deno.readTextFile(installed).catch(() => "") !== list) {
    await runCommand([
      ...["npm", "install", "--prefix", folder, "--no-save"],
      ...["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
      ...packages,
    ]);
    await Deno.writeTextFile(installed, list);
  }
  for await (const { name } of Deno.readDir(PEERS)) {
    await Deno.copyFile(`${PEERS}/${name}`, `${folder}/${name}`);
  }
  const bridge = ["node", `${folder}/node_bridge.mjs`];
  return {
    floor: runScript(FLOOR),
    curl: ["sh", `${PEERS}/three_calls.sh`],
    "acp-sdk": ["node", `${folder}/acp_agent.mjs`],
    langgraph: [...bridge, "langgraph"],
    "eventsource-parser": [...bridge, "eventsource_parser"],
  };
}
