/**
 * The program: reads the command line and the settings, and chooses a front end.
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
import { EXIT } from "./lib/exit_codes.ts";
import {
  isReaderGone,
  openLog,
  outputSink,
  readStandardInput,
  startTimeout,
} from "./lib/io.ts";
import { Process } from "./lib/process.ts";
import { loadSettings, type Settings, SettingsError } from "./lib/settings.ts";
import { KEYLESS, maskKey, type Redacted } from "./lib/text.ts";

/** The process that started this one. Read first: it may end at any moment. */
const PARENT = Deno.ppid;

/**
 * How often the bridge looks, after the end of its input, whether the client that started
 * it was killed, in milliseconds. (On Windows, the id of the parent never changes.)
 */
const PARENT_INTERVAL = 2000;

const process = new Process();

/** What was wrong with the settings, one line each. It may be why a start fails. */
const warnings: string[] = [];

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
    const isUsage = error instanceof UsageError;
    if (!isUsage && !(error instanceof SettingsError)) throw error;
    const reason = isUsage
      ? `${error.message}; see agent-gateway --help`
      : error.message;
    process.report("error", KEYLESS.showName(reason));
    if (asksForBridge(args)) {
      const message = [...warnings, reason].join(". ");
      await answerClient(KEYLESS.showName(message));
    }
    return isUsage ? EXIT.usage : EXIT.failed;
  }
}

function loadSettingsFor(
  { baseUrl }: BridgeArguments | InteractiveArguments,
): Settings {
  return loadSettings(baseUrl, (line) => {
    warnings.push(line);
    process.report("warning", KEYLESS.showName(line));
  });
}

function start(asked: Arguments): Promise<number> {
  switch (asked.command) {
    case "print":
      return print(asked.text);
    case "check":
      return startCheck(asked);
    case "bridge":
      return startBridge(loadSettingsFor(asked), asked);
    case "interactive":
      return startInteractive(loadSettingsFor(asked), asked);
    default:
      return asked satisfies never;
  }
}

async function print(text: string): Promise<number> {
  await outputSink().write(new TextEncoder().encode(text));
  return 0;
}

async function startCheck(asked: CheckArguments): Promise<number> {
  const { runCheck } = await import("./lib/check.ts");
  process.listen();
  const isGood = await runCheck({ ...asked, stdout: outputSink() });
  return isGood ? 0 : 1;
}

/** Tells a client of the bridge why the program does not start: clients hide stderr. */
async function answerClient(reason: Redacted): Promise<void> {
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
  process.listen();
  const log = verbose
    ? openLog((line) => process.standardError.write(line, "progress"))
    : undefined;
  await using gateway = new RemoteGateway({ ...settings, log });
  const stdout = outputSink();
  await runBridge({ stdin, stdout, gateway, log, onInputEnd: watchParent });
  return 0;
}

/** Ends the process as soon as the one that started it is gone. */
function watchParent(): void {
  if (Deno.ppid !== PARENT) process.exit(EXIT.terminated);
  startTimeout(PARENT_INTERVAL, watchParent);
}

async function startInteractive(
  settings: Settings,
  asked: InteractiveArguments,
): Promise<number> {
  const { RemoteGateway } = await import("./lib/gateway.ts");
  const { runConversation } = await import("./lib/interactive.ts");
  process.listen();
  const { apiKey, baseUrl } = settings;
  const maskedKey = maskKey(apiKey);
  await using gateway = new RemoteGateway(settings);
  return await runConversation({ gateway, maskedKey, baseUrl, asked, process });
}

if (import.meta.main) await process.run(() => main(Deno.args));
