/**
 * The command line of agent-gateway: what was asked for, the settings, and which
 * front end to start. The only place that ends the process.
 *
 * @module
 */

import {
  type BridgeArguments,
  type InteractiveArguments,
  parseCommandLine,
  UsageError,
} from "./lib/command_line.ts";
import { fetchWarning } from "./lib/deno_fetch_warning.ts";
import {
  ignoreProxies,
  loadSettings,
  type Settings,
  SettingsError,
} from "./lib/settings.ts";
import type { Terminal } from "./lib/interactive.ts";
import { maskKey } from "./lib/key_mask.ts";
import { InputError, readChunks, sink } from "./lib/standard_streams.ts";

const INTERRUPTED = 130;
const TERMINATED = 143;

async function main(args: readonly string[]): Promise<number> {
  const warn = (line: string) => writeError(`Warning: ${line}\n`);
  // The first error that is made, be it the one of a missing .env, makes V8 parse
  // the functions on the stack again. Behind this, the whole file is none of them.
  await undefined;
  let asked;
  let settings;
  try {
    asked = await parseCommandLine(args);
    if (asked.command === "print") return printText(asked.text);
    if (asked.command === "check") return 1;
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
  try {
    return asked.command === "bridge"
      ? await startBridge(settings, asked)
      : await startInteractive(settings, asked);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    writeError(`${error.message}\n`);
    return 1;
  }
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

/** Listens for the signals that end the process. */
function listen(interrupt: () => void, terminate: () => void): void {
  Deno.addSignalListener("SIGINT", interrupt);
  if (Deno.build.os !== "windows") {
    Deno.addSignalListener("SIGTERM", terminate);
  }
}

async function startBridge(
  settings: Settings,
  { verbose }: BridgeArguments,
): Promise<number> {
  const stdin = readChunks(Deno.stdin); // while the rest is loaded
  const { RemoteGateway } = await import("./lib/gateway.ts");
  const { runBridge, VerboseLog } = await import("./lib/bridge.ts");
  // Everything that is under way is dropped with the process.
  listen(() => Deno.exit(INTERRUPTED), () => Deno.exit(TERMINATED));
  const log = verbose ? new VerboseLog(sink(Deno.stderr)) : undefined;
  const gateway = new RemoteGateway({
    ...settings,
    onExchange: log && ((exchange) => log.exchange(exchange)),
  });
  try {
    await runBridge({
      stdin,
      stdout: sink(Deno.stdout),
      gateway,
      onAnswered: log && ((answered) => log.answered(answered)),
    });
    await log?.flush();
  } catch (error) {
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
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
    terminal?.[Symbol.dispose]();
    Deno.exit(code);
  };
  const onInterrupt = () => {
    if (!isTyped || !terminal?.interrupt()) leave(INTERRUPTED);
  };
  listen(onInterrupt, () => leave(TERMINATED));

  const prompts = readsInput
    ? await addInput(asked.prompts, readChunks(Deno.stdin))
    : asked.prompts;
  using opened = isScript || json
    ? openScript({ stderr: writeError, quiet, json, readsLines: !isScript })
    : await openTerminal({ stderr: writeError, quiet, onInterrupt });
  terminal = opened;
  const options = {
    gateway: new RemoteGateway(settings),
    terminal,
    maskedKey: maskKey(settings.apiKey),
    baseUrl: settings.baseUrl,
    threadId: asked.threadId,
  };
  try {
    return isScript
      ? await runPrompts(prompts, options)
      : await runInteractive({ ...options, isTyped });
  } catch (error) {
    if (error instanceof Deno.errors.BrokenPipe) return 1;
    throw error;
  }
}

if (import.meta.main) Deno.exit(await main(Deno.args));
