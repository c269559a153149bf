/**
 * The command line of agent-gateway: what was asked for, the settings, and which
 * front end to start. The only place that ends the process.
 *
 * @module
 */

import { parseArgs } from "@std/cli/parse-args";
import { RemoteGateway } from "./lib/gateway.ts";
import { fetchWarning } from "./lib/service_client.ts";
import {
  DEFAULT_BASE_URL,
  ignoreProxies,
  isLoopback,
  loadSettings,
  maskKey,
  type Settings,
  SettingsError,
} from "./lib/settings.ts";
import { VERSION } from "./lib/version.ts";

const USAGE = `agent-gateway ${VERSION}: the client of a remote agent service

Usage: agent-gateway [OPTIONS]

  Without options, prompts are read line by line and run on one thread; replies
  go to standard output. "exit", "quit" or the end of the input leaves.

Options:
  -b, --bridge        Serve an editor: JSON-RPC (Agent Client Protocol) on
                      standard input and output
      --base-url URL  Where the service is (https:, or http: on this machine)
      --verbose       With --bridge: one line per request on standard error
  -h, --help          Print this text
  -V, --version       Print the version

Settings, from the environment or a .env file in the current folder:
  APP_API_KEY         The API key (required)
  APP_BASE_URL        Where the service is (default ${DEFAULT_BASE_URL})

Exit codes: 0 done, 1 start-up failure or failed run, 2 wrong usage,
130 interrupted, 143 terminated
`;

/** What the command line asks for. */
interface Flags {
  readonly bridge: boolean;
  readonly verbose: boolean;
  readonly baseUrl: string | undefined;
}

class UsageError extends Error {}

const SWITCHES = ["bridge", "help", "version", "verbose"] as const;

/** Parses the command line: flags, or a text to print instead of starting. */
function parseCommandLine(args: readonly string[]): Flags | string {
  const flags = parseArgs([...args], {
    alias: { bridge: "b", help: "h", version: "V" },
    // As strings, switches show a value that was given to them.
    string: [...SWITCHES, "base-url"],
    collect: [...SWITCHES, "base-url"],
    unknown: (argument) => {
      throw new UsageError(`Unknown argument ${quote(argument)}`);
    },
    "--": true,
  });
  const [word] = flags["--"] ?? [];
  if (word !== undefined) {
    throw new UsageError(`Unknown argument ${quote(word)}`);
  }
  const given = args.find((argument) =>
    /^-(?!-base-url=)[^=]*=/.test(argument)
  );
  if (given !== undefined) {
    throw new UsageError(`This option takes no value: ${quote(given)}`);
  }
  const isGiven = (name: typeof SWITCHES[number]) => {
    for (const value of flags[name]) {
      if (value !== "") {
        throw new UsageError(
          `--${name} takes no value, but got ${quote(value)}`,
        );
      }
    }
    return flags[name].length > 0;
  };
  const [bridge, help, version, verbose] = SWITCHES.map(isGiven);
  if (flags["base-url"].includes("")) {
    throw new UsageError("--base-url needs a URL");
  }
  if (help) return USAGE;
  if (version) {
    return `agent-gateway ${VERSION} (deno ${Deno.version.deno}, ${Deno.build.target})\n`;
  }
  return {
    bridge: bridge === true,
    verbose: verbose === true,
    baseUrl: flags["base-url"].at(-1),
  };
}

function quote(argument: string): string {
  return JSON.stringify(argument);
}

async function main(args: readonly string[]): Promise<number> {
  let flags;
  let settings;
  try {
    flags = parseCommandLine(args);
    if (typeof flags === "string") return printText(flags);
    settings = loadSettings({ baseUrl: flags.baseUrl });
  } catch (error) {
    if (error instanceof UsageError) {
      writeError(`${error.message}; see agent-gateway --help\n`);
      return 2;
    }
    if (error instanceof SettingsError) {
      writeError(`${error.message}\n`);
      return 1;
    }
    throw error;
  }
  const warning = fetchWarning(Deno.version.deno);
  for (const line of [...settings.warnings, ...warning]) {
    writeError(`Warning: ${line}\n`);
  }
  if (isLoopback(settings.baseUrl)) ignoreProxies();
  endOnSignals();
  return flags.bridge
    ? await startBridge(settings, flags.verbose)
    : await startInteractive(settings);
}

function printText(text: string): number {
  try {
    Deno.stdout.writeSync(new TextEncoder().encode(text));
  } catch (error) {
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
  return 0;
}

function writeError(text: string): void {
  try {
    Deno.stderr.writeSync(new TextEncoder().encode(text));
  } catch {
    // Nobody reads it: there is no other place to say so.
  }
}

/** Ends at once: everything that is under way is dropped with the process. */
function endOnSignals(): void {
  Deno.addSignalListener("SIGINT", () => Deno.exit(130));
  if (Deno.build.os !== "windows") {
    Deno.addSignalListener("SIGTERM", () => Deno.exit(143));
  }
}

async function startBridge(
  settings: Settings,
  verbose: boolean,
): Promise<number> {
  const { runBridge } = await import("./lib/stdio_bridge.ts");
  const { VerboseLog } = await import("./lib/verbose_log.ts");
  const log = verbose ? new VerboseLog(Deno.stderr.writable) : undefined;
  const gateway = new RemoteGateway({
    ...settings,
    onExchange: log && ((exchange) => log.exchange(exchange)),
  });
  try {
    await runBridge({
      stdin: Deno.stdin.readable,
      stdout: Deno.stdout.writable,
      gateway,
      onAnswered: log && ((answered) => log.answered(answered)),
    });
    await log?.flush();
  } catch (error) {
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
  return 0;
}

async function startInteractive(settings: Settings): Promise<number> {
  const { runInteractive } = await import("./lib/interactive.ts");
  const { PlainTerminal } = await import("./lib/terminal.ts");
  using terminal = new PlainTerminal({
    stdin: Deno.stdin.readable,
    stdout: Deno.stdout.writable,
    stderr: writeError,
    stdoutIsTerminal: Deno.stdout.isTerminal(),
  });
  try {
    return await runInteractive({
      gateway: new RemoteGateway(settings),
      terminal,
      maskedKey: maskKey(settings.apiKey),
      baseUrl: settings.baseUrl,
    });
  } catch (error) {
    if (error instanceof Deno.errors.BrokenPipe) return 1;
    throw error;
  }
}

if (import.meta.main) Deno.exit(await main(Deno.args));
