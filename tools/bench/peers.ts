import { runCommand } from "../run_command.ts";
import { type Command, javaScript } from "./programs.ts";

const SCRIPTS = `${import.meta.dirname}/peers`;

/** The versions of the peers' packages and of their dependencies. */
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

/** The bridge's floor, or that of one prompt: `fetch` and nothing else. */
export function floor(...prompt: readonly string[]): Command {
  return javaScript(`${SCRIPTS}/floor.ts`, ...prompt);
}

/** One prompt from the shell by curl. */
export function curl(prompt: string): Command {
  return { program: "sh", args: [`${SCRIPTS}/three_calls.sh`, prompt] };
}

/** A script of the peers on Node.js, with its arguments. */
export type Peer = (script: string, ...args: string[]) => Command;

/**
 * Copies the peers to a folder of the system's cache, in which Node.js finds their
 * packages. Needs npm and its registry the first time.
 *
 * @throws If there is no npm, or no registry.
 */
export async function installPeers(): Promise<Peer> {
  const cache = Deno.env.get("XDG_CACHE_HOME") ??
    `${Deno.env.get("HOME")}/.cache`;
  const folder = `${cache}/agent-gateway-bench/peers`;
  await Deno.mkdir(folder, { recursive: true });
  await installPackages(folder);
  for await (const { name } of Deno.readDir(SCRIPTS)) {
    await Deno.copyFile(`${SCRIPTS}/${name}`, `${folder}/${name}`);
  }
  return (script, ...args) => ({
    program: "node",
    args: [`${folder}/${script}`, ...args],
  });
}

/** Installs the packages, unless a file says that it was done. */
async function installPackages(folder: string): Promise<void> {
  const packages = Object.entries(PEER_VERSIONS).map((pair) => pair.join("@"));
  const list = packages.join("\n");
  const mark = `${folder}/installed.txt`;
  if (await Deno.readTextFile(mark).catch(() => "") === list) return;
  await runCommand([
    ...["npm", "install", "--prefix", folder, "--no-save"],
    ...["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
    ...packages,
  ]);
  await Deno.writeTextFile(mark, list);
}
