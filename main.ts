/**
 * The program: reads the command line and the settings, and starts a front end.
 * The only place that ends the process.
 *
 * @module
 */

import {
  type Arguments,
  asksForBridge,
  type BridgeArguments,
  type CheckArguments,
  type InteractiveArguments,
  parseCommandLine,
  UsageError,
} from "./lib/command_line.ts";
import type { Conversation } from "./lib/interactive.ts";
import {
  environmentVariable,
  ErrorOutput,
  errorSink,
  failureLine,
  isReaderGone,
  isShown,
  kindOf,
  openLog,
  outputSink,
  readStandardInput,
} from "./lib/io.ts";
import { loadSettings, type Settings, SettingsError } from "./lib/settings.ts";
import { maskKey, withoutCommands } from "./lib/text.ts";
import { versionLine } from "./lib/version.ts";

/** Comes first in each message, because standard error is shared with other programs. */
const NAME = "agent-gateway";

const TERMINATED = 143;

/**
 * How often the bridge looks, after the end of its input, whether the client that started
 * it was killed, in milliseconds. (On Windows, the id of the parent never changes.)
 */
const PARENT_INTERVAL = 2000;

async function main(args: readonly string[]): Promise<number> {
  // V8 reparses the functions on the stack when the first error is created, even
  // the one for a missing .env. Yielding here keeps this file off the stack
  // (1.5 ms less at the start).
  await undefined;
  let asked: Arguments | undefined;
  try {
    asked = await parseCommandLine(args);
    return await start(asked);
  } catch (error) {
    // Nobody reads standard output any more: the program ends without a word.
    if (isReaderGone(error)) {
      return asked?.command === "bridge" || asked?.command === "print" ? 0 : 1;
    }
    if (error instanceof UsageError) {
      return await failStart(args, {
        reason: `${error.message}; see agent-gateway --help`,
        code: 2,
      });
    }
    if (error instanceof SettingsError) {
      const { message: reason, warnings } = error;
      return await failStart(args, { reason, warnings, code: 1 });
    }
    throw error;
  }
}

/** Says why the program does not start, to the user and to an editor. */
async function failStart(
  args: readonly string[],
  { reason, warnings = [], code }: {
    readonly reason: string;
    readonly warnings?: readonly string[];
    readonly code: number;
  },
): Promise<number> {
  warn(warnings);
  writeError(`${NAME}: error: ${reason}\n`);
  if (asksForBridge(args)) {
    await answerEditor([...warnings, reason].join(". "));
  }
  return code;
}

function warn(warnings: readonly string[]): void {
  for (const line of warnings) writeError(`${NAME}: warning: ${line}\n`);
}

function loadSettingsFor(
  asked: BridgeArguments | InteractiveArguments,
): Settings {
  const settings = loadSettings(asked);
  warn(settings.warnings);
  return settings;
}

async function start(asked: Arguments): Promise<number> {
  switch (asked.command) {
    case "print":
      await outputSink().write(new TextEncoder().encode(asked.text));
      return 0;
    case "check":
      return await startCheck(asked);
    case "bridge":
      return await startBridge(loadSettingsFor(asked), asked);
    case "interactive":
      return await startInteractive(loadSettingsFor(asked), asked);
    default:
      return asked satisfies never;
  }
}

const standardError = new ErrorOutput(errorSink());

/** Whether a runner reads standard error, and obeys some of its lines. */
const hasRunner = environmentVariable("GITHUB_ACTIONS") !== undefined ||
  environmentVariable("TF_BUILD") !== undefined;

function writeError(text: string, kind?: "progress"): void {
  standardError.write(hasRunner ? withoutCommands(text) : text, kind);
}

/** How long the program waits at its end for standard error to be read, in milliseconds. */
const END_LIMIT = 1000;

/**
 * The same limit after a signal, which has to end the process within a second.
 * Before that, a reply that is being written gets as much time.
 */
const SIGNAL_LIMIT = 400;

let isEnding = false;
let wasShown = false; // whether prompts were read from a terminal

/** The conversation, once it has begun. Leaving it gives the terminal back. */
let conversation: Conversation | undefined;

/** How the process ends: by a signal, or with an exit code. */
type Ending = Deno.Signal | number;

const hasSignals = Deno.build.os !== "windows";

/** The signals that end the process, and the exit codes that stand for them. */
const SIGNALS: Readonly<Partial<Record<Deno.Signal, number>>> = {
  SIGINT: 130,
  ...hasSignals
    ? { SIGHUP: 129, SIGQUIT: 131, SIGTERM: TERMINATED }
    : { SIGBREAK: TERMINATED },
};

const stopListening = new Map<Ending, () => void>();

/** Ends the process after standard error is written, or after `limit` milliseconds. */
async function end(ending: Ending, limit = END_LIMIT): Promise<void> {
  if (isEnding) return;
  isEnding = true;
  await standardError.flush(limit);
  // A closed window may end the input before its SIGHUP comes.
  exit(wasShown && !isShown("stdin") ? "SIGHUP" : ending);
}

/**
 * Ends the process now, after a signal by that signal: a shell then ends its loop, and
 * systemd takes the end for clean. It exits with the code on Windows, as PID 1, which
 * its own signals do not reach, and after SIGQUIT, which would write a core.
 */
function exit(ending: Ending): void {
  if (typeof ending === "number") Deno.exit(ending);
  const code = SIGNALS[ending] ?? 1;
  if (!hasSignals || ending === "SIGQUIT" || Deno.pid === 1) Deno.exit(code);
  stopListening.get(ending)?.();
  try {
    Deno.kill(Deno.pid, ending);
  } catch {
    Deno.exit(code); // Deno before 2.9 does not allow it.
  }
  setTimeout(() => Deno.exit(code), SIGNAL_LIMIT); // It was not delivered.
}

/** Ends the process after an error that no front end has handled. */
async function fail(error: unknown): Promise<void> {
  await conversation?.leave().catch(() => {}); // The error that came first is told.
  if (!isEnding) writeError(`${NAME}: error: ${failureLine(error)}\n`);
  await end(1);
}

/** Listens for the signals that end the process, and for Ctrl-C. */
function listen(
  terminate: (ending: Ending) => void,
  interrupt: () => void = () => terminate("SIGINT"),
): void {
  for (const signal of Object.keys(SIGNALS) as Deno.Signal[]) {
    const listener = signal === "SIGINT" ? interrupt : () => terminate(signal);
    Deno.addSignalListener(signal, listener);
    stopListening.set(
      signal,
      () => Deno.removeSignalListener(signal, listener),
    );
  }
}

async function startCheck(asked: CheckArguments): Promise<number> {
  const { runCheck } = await import("./lib/check.ts");
  listen(end);
  const isGood = await runCheck({
    ...asked,
    stdout: outputSink(),
    onLine: asked.verbose
      ? (line) => writeError(`${line}\n`, "progress")
      : undefined,
  });
  return isGood ? 0 : 1;
}

/** Tells an editor why the program does not start: editors hide standard error. */
async function answerEditor(reason: string): Promise<void> {
  const stdin = readStandardInput();
  const { answerFailedStart } = await import("./lib/bridge.ts");
  try {
    await answerFailedStart({ stdin, stdout: outputSink(), reason });
  } catch {
    // The reason is on standard error already.
  }
}

async function startBridge(
  settings: Settings,
  { verbose }: BridgeArguments,
): Promise<number> {
  const stdin = readStandardInput(); // reads while the modules below are loaded
  const { RemoteGateway } = await import("./lib/gateway.ts");
  const { runBridge } = await import("./lib/bridge.ts");
  // Ending the process drops every request under way.
  listen(exit);
  const parent = Deno.ppid;
  const onInputEnd = () => {
    if (Deno.ppid !== parent) Deno.exit(TERMINATED);
    setTimeout(onInputEnd, PARENT_INTERVAL);
  };
  const { baseUrl, sources } = settings;
  const log = verbose
    ? openLog((line) => writeError(line, "progress"))
    : undefined;
  log?.(versionLine().trimEnd());
  log?.(
    `settings: key from ${sources.apiKey}, base URL ${baseUrl} from ${sources.baseUrl}`,
  );
  await using gateway = new RemoteGateway({ ...settings, log });
  await runBridge({ stdin, stdout: outputSink(), gateway, log, onInputEnd });
  return 0;
}

async function startInteractive(
  settings: Settings,
  asked: InteractiveArguments,
): Promise<number> {
  const { RemoteGateway, traceHeaders } = await import("./lib/gateway.ts");
  const { addInput, Conversation, openView } = await import(
    "./lib/interactive.ts"
  );
  const isScript = asked.prompts.length > 0 || asked.readsInput;

  let isLeaving = false;
  const leave = async (ending: Ending) => {
    if (isEnding || isLeaving) return exit(ending); // A second signal does not wait.
    isLeaving = true;
    await conversation?.leave(SIGNAL_LIMIT);
    await end(ending, SIGNAL_LIMIT);
  };
  const onInterrupt = () => {
    if (!conversation?.interrupt()) leave("SIGINT");
  };
  const onQuit = () => leave("SIGQUIT"); // Ctrl-\
  listen(leave, onInterrupt);

  const streams = {
    stdin: isScript ? "data" : await kindOf("stdin"),
    stdout: await kindOf("stdout"),
    stderr: await kindOf("stderr"),
  };
  wasShown = streams.stdin !== "data";
  const isOneTerminal = streams.stdout !== "data" && streams.stderr !== "data";
  const prompts = asked.readsInput
    ? await addInput(asked.prompts, readStandardInput())
    : asked.prompts;
  const view = await openView({
    ...asked,
    stdout: standardError.inOrder(outputSink(), isOneTerminal),
    stderr: writeError,
    readsPrompts: !isScript,
    streams,
    onInterrupt,
    onQuit,
  });
  await using gateway = new RemoteGateway(settings);
  const opened = conversation = new Conversation({
    gateway,
    view,
    maskedKey: maskKey(settings.apiKey),
    baseUrl: settings.baseUrl,
    threadId: asked.threadId,
    timeLimit: asked.timeLimit,
    // https://opentelemetry.io/docs/specs/otel/context/env-carriers/
    headers: isScript
      ? traceHeaders({
        traceparent: environmentVariable("TRACEPARENT"),
        tracestate: environmentVariable("TRACESTATE"),
      })
      : {},
  });
  try {
    return isScript
      ? await opened.runPrompts(prompts)
      : await opened.runInteractive();
  } finally {
    await opened.leave();
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
