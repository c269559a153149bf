/**
 * The program: reads the command line and the settings, and starts a front end.
 * The only place that ends the process.
 *
 * @module
 */

import {
  type BridgeArguments,
  type CheckArguments,
  type InteractiveArguments,
  parseCommandLine,
  UsageError,
} from "./lib/command_line.ts";
import { fetchWarning } from "./lib/deno_fetch_warning.ts";
import { ErrorOutput } from "./lib/error_output.ts";
import { failureLine } from "./lib/failure_line.ts";
import type { Terminal } from "./lib/interactive.ts";
import { maskKey } from "./lib/key_mask.ts";
import { ignoreProxies } from "./lib/proxies.ts";
import { loadSettings, type Settings, SettingsError } from "./lib/settings.ts";
import {
  errorSink,
  isReaderGone,
  outputSink,
  readStandardInput,
} from "./lib/standard_streams.ts";

const INTERRUPTED = 130;
const QUIT = 131;
const TERMINATED = 143;

async function main(args: readonly string[]): Promise<number> {
  const warn = (line: string) => writeError(`Warning: ${line}\n`);
  // V8 reparses the functions on the stack when the first error is created, even
  // the one for a missing .env. Yielding here keeps this file off the stack
  // (1.5 ms less at the start).
  await undefined;
  let asked;
  let settings;
  try {
    asked = await parseCommandLine(args);
    if (asked.command === "print") return await printText(asked.text);
    if (asked.command === "check") return await startCheck(asked);
    settings = loadSettings({ baseUrl: asked.baseUrl, warn });
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
  return asked.command === "bridge"
    ? await startBridge(settings, asked)
    : await startInteractive(settings, asked);
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

/** How long the program waits at its end for standard error to be read, in milliseconds. */
const END_LIMIT = 1000;

/** The same limit after a signal, which has to end the process within a second. */
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

/** Ends the process after an error that no front end has handled. */
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

async function startCheck({ baseUrl }: CheckArguments): Promise<number> {
  const { runCheck } = await import("./lib/check.ts");
  listen(() => end(INTERRUPTED), () => end(TERMINATED));
  try {
    return await runCheck({ baseUrl, stdout: outputSink() });
  } catch (error) {
    if (isReaderGone(error)) return 1;
    throw error;
  }
}

async function startBridge(
  settings: Settings,
  { verbose }: BridgeArguments,
): Promise<number> {
  const stdin = readStandardInput(); // reads while the modules below are loaded
  const { RemoteGateway } = await import("./lib/gateway.ts");
  const { runBridge, VerboseLog } = await import("./lib/bridge.ts");
  // Ending the process drops every request under way.
  listen(() => Deno.exit(INTERRUPTED), () => Deno.exit(TERMINATED));
  const log = verbose ? new VerboseLog(errorSink(), settings) : undefined;
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
      onAsked: log && ((asked) => log.asked(asked)),
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
  asked: InteractiveArguments,
): Promise<number> {
  const { RemoteGateway } = await import("./lib/gateway.ts");
  const { addInput, openScript, openTerminal, runInteractive, runPrompts } =
    await import("./lib/interactive.ts");
  const { readsInput, json, quiet } = asked;
  const isScript = asked.prompts.length > 0 || readsInput;
  const isTyped = !isScript && Deno.stdin.isTerminal();

  let terminal: Terminal | undefined = undefined;
  const leave = (code: number) => {
    if (isEnding) Deno.exit(code); // A second signal does not wait.
    terminal?.[Symbol.dispose]();
    end(code, SIGNAL_LIMIT);
  };
  const onInterrupt = () => {
    if (!isTyped || !terminal?.interrupt()) leave(INTERRUPTED);
  };
  listen(onInterrupt, () => leave(TERMINATED));
  if (isTyped && Deno.build.os !== "windows") {
    Deno.addSignalListener("SIGQUIT", () => leave(QUIT)); // Ctrl-\
  }

  const prompts = readsInput
    ? await addInput(asked.prompts, readStandardInput())
    : asked.prompts;
  const streams = {
    stdout: standardError.inOrder(outputSink()),
    stderr: writeError,
    quiet,
  };
  // Not by `using`: the minifier drops it where the variable is used once.
  const opened = terminal = isScript || json
    ? openScript({ ...streams, json, readsLines: !isScript })
    : await openTerminal({ ...streams, onInterrupt });
  const gateway = new RemoteGateway(settings);
  const options = {
    gateway,
    terminal: opened,
    maskedKey: maskKey(settings.apiKey),
    baseUrl: settings.baseUrl,
    threadId: asked.threadId,
  };
  try {
    return isScript
      ? await runPrompts(prompts, options)
      : await runInteractive({ ...options, isTyped });
  } catch (error) {
    if (isReaderGone(error)) return 1;
    throw error;
  } finally {
    await gateway[Symbol.asyncDispose]();
    opened[Symbol.dispose]();
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
