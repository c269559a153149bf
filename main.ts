/**
 * The command line of agent-gateway: what was asked for, the settings, and which
 * front end to start. The only place that ends the process.
 *
 * @module
 */

import { parseArgs } from "@std/cli/parse-args";
import { fetchWarning } from "./lib/deno_fetch_warning.ts";
import {
  DEFAULT_BASE_URL,
  loadSettings,
  type Settings,
  SettingsError,
} from "./lib/settings.ts";
import { maskKey } from "./lib/key_mask.ts";
import { ErrorOutput } from "./lib/error_output.ts";
import { failureLine } from "./lib/failure_line.ts";
import {
  errorSink,
  isReaderGone,
  outputSink,
  readStandardInput,
} from "./lib/standard_streams.ts";
import { ignoreProxies } from "./lib/proxies.ts";
import { VERSION } from "./lib/version.ts";

const USAGE = `agent-gateway ${VERSION}: the client of a remote agent service

Usage: agent-gateway [OPTIONS]

  Without options, prompts are read line by line and run on one thread; replies
  go to standard output. "exit", "quit" or the end of the input leaves.

Options:
  -b, --bridge        Serve an editor: JSON-RPC (Agent Client Protocol) on
                      standard input and output
      --base-url URL  Where the service is (https:, or http: on this machine)
  -q, --quiet         No banner and no progress on standard error
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
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly baseUrl: string | undefined;
}

const INTERRUPTED = 130;
const TERMINATED = 143;

class UsageError extends Error {}

const SWITCHES = ["bridge", "help", "version", "quiet", "verbose"] as const;

/** Parses the command line: flags, or a text to print instead of starting. */
function parseCommandLine(args: readonly string[]): Flags | string {
  // The parser takes --b for -b.
  const unknown = args.filter((argument) => /^--.(?:=|$)/.test(argument));
  const flags = parseArgs([...args], {
    alias: { bridge: "b", help: "h", version: "V", quiet: "q" },
    // As strings, switches show a value that was given to them.
    string: [...SWITCHES, "base-url"],
    collect: [...SWITCHES, "base-url"],
    unknown: (argument) => {
      unknown.push(argument);
      return false;
    },
    "--": true,
  });
  if (flags["base-url"].includes("")) {
    throw new UsageError("--base-url needs a URL");
  }
  const [word] = [...unknown, ...flags["--"] ?? []];
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
  const [bridge, help, version, quiet, verbose] = SWITCHES.map(isGiven);
  if (help) return USAGE;
  if (version) {
    return `agent-gateway ${VERSION} (deno ${Deno.version.deno}, ${Deno.build.target})\n`;
  }
  return {
    bridge: bridge === true,
    quiet: quiet === true,
    verbose: verbose === true,
    baseUrl: flags["base-url"].at(-1),
  };
}

function quote(argument: string): string {
  return JSON.stringify(argument);
}

async function main(args: readonly string[]): Promise<number> {
  const warn = (line: string) => writeError(`Warning: ${line}\n`);
  // The first error that is made, be it the one of a missing .env, makes V8 parse
  // the functions on the stack again. Behind this, the whole file is none of them.
  await undefined;
  let flags;
  let settings;
  try {
    flags = parseCommandLine(args);
    if (typeof flags === "string") return printText(flags);
    settings = loadSettings({ baseUrl: flags.baseUrl, warn });
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
  for (const line of fetchWarning(Deno.version.deno)) warn(line);
  if (settings.isLocal) ignoreProxies();
  return flags.bridge
    ? await startBridge(settings, flags.verbose)
    : await startInteractive(settings, flags.quiet);
}

async function printText(text: string): Promise<number> {
  try {
    await outputSink().write(new TextEncoder().encode(text));
  } catch (error) {
    if (!isReaderGone(error)) throw error;
  }
  return 0;
}

const standardError = new ErrorOutput(errorSink());

function writeError(text: string, kind?: "progress"): void {
  standardError.write(text, kind);
}

/** How long the end waits for a reader of standard error, in milliseconds. */
const END_LIMIT = 1000;

/** The same after a signal, which ends the process within a second. */
const SIGNAL_LIMIT = 500;

let isEnding = false;

/**
 * Ends the process after standard error is written, or after `limit`
 * milliseconds. The first exit code counts.
 */
async function end(code: number, limit = END_LIMIT): Promise<void> {
  if (isEnding) return;
  isEnding = true;
  await standardError.flush(limit);
  Deno.exit(code);
}

/** Ends the process because of an error that no front end has handled. */
async function fail(error: unknown): Promise<void> {
  if (!isEnding) writeError(`${failureLine(error)}\n`);
  await end(1);
}

const TERMINATING: readonly Deno.Signal[] = Deno.build.os === "windows"
  ? ["SIGTERM", "SIGBREAK", "SIGHUP"] // SIGHUP: the console is closed.
  : ["SIGTERM"];

/** Listens for the signals that end the process. */
function listen(interrupt: () => void, terminate: () => void): void {
  Deno.addSignalListener("SIGINT", interrupt);
  for (const signal of TERMINATING) {
    try {
      Deno.addSignalListener(signal, terminate);
    } catch (error) {
      // Deno before 2.7.6 has no SIGTERM on Windows.
      if (Deno.build.os !== "windows") throw error;
    }
  }
}

async function startBridge(
  settings: Settings,
  verbose: boolean,
): Promise<number> {
  const stdin = readStandardInput(); // while the rest is loaded
  const { RemoteGateway } = await import("./lib/gateway.ts");
  const { runBridge, VerboseLog } = await import("./lib/bridge.ts");
  // Everything that is under way is dropped with the process.
  listen(() => Deno.exit(INTERRUPTED), () => Deno.exit(TERMINATED));
  const log = verbose ? new VerboseLog(errorSink()) : undefined;
  await using gateway = new RemoteGateway({
    ...settings,
    onExchange: log && ((exchange) => log.exchange(exchange)),
  });
  try {
    await runBridge({
      stdin,
      stdout: outputSink(),
      gateway,
      onAnswered: log && ((answered) => log.answered(answered)),
    });
  } catch (error) {
    if (!isReaderGone(error)) throw error;
  } finally {
    await log?.flush();
  }
  return 0;
}

async function startInteractive(
  settings: Settings,
  quiet: boolean,
): Promise<number> {
  const { RemoteGateway } = await import("./lib/gateway.ts");
  const { openTerminal, runInteractive } = await import("./lib/interactive.ts");
  const leave = (code: number) => {
    if (isEnding) Deno.exit(code); // A second signal does not wait.
    terminal[Symbol.dispose]();
    end(code, SIGNAL_LIMIT);
  };
  const onInterrupt = () => {
    const isTyped = Deno.stdin.isTerminal();
    if (!isTyped || !terminal.interrupt()) leave(INTERRUPTED);
  };
  using terminal = await openTerminal({
    stdout: standardError.inOrder(outputSink()),
    stderr: writeError,
    quiet,
    onInterrupt,
  });
  listen(onInterrupt, () => leave(TERMINATED));
  await using gateway = new RemoteGateway(settings);
  try {
    return await runInteractive({
      gateway,
      terminal,
      maskedKey: maskKey(settings.apiKey),
      baseUrl: settings.baseUrl,
    });
  } catch (error) {
    if (isReaderGone(error)) return 1;
    throw error;
  }
}

if (import.meta.main) {
  addEventListener("error", (event) => {
    event.preventDefault();
    fail(event.error);
  });
  addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    fail(event.reason);
  });
  await main(Deno.args).then(end, fail);
}
