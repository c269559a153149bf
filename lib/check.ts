/**
 * `--check`: reports the settings in effect and how far a request gets. The
 * report can be pasted into an issue: it contains no secrets.
 *
 * @module
 */

import { Report } from "./check/report.ts";
import { StreamFacts } from "./check/stream_facts.ts";
import {
  RemoteGateway,
  type RunIds,
  ServiceError,
  threadIdFrom,
} from "./gateway.ts";
import { type ByteSink, Deadline } from "./io.ts";
import { loadSettings, type Settings, SettingsError } from "./settings.ts";
import { maskKey, Redactor } from "./text.ts";
import { versionLine } from "./version.ts";

/** How long the check may take by default, up to the thread, in milliseconds. */
const LIMIT = 30_000;

/** How long a request with a wrong key may take, in milliseconds. */
const WRONG_KEY_LIMIT = 10_000;

/** How long a resumed stream may take to bring the reply again, in milliseconds. */
const RESUME_LIMIT = 1_000;

export interface RunCheckOptions {
  readonly baseUrl: string | undefined;
  /** A prompt to run, to report what its stream is like. */
  readonly prompt: string | undefined;
  /** The milliseconds for the whole check. By default 30 s, and no limit for a run. */
  readonly timeLimit: number | undefined;
  readonly json: boolean;
  readonly stdout: ByteSink;
  /** Called for each line of the run's stream, clean and without the key. */
  readonly onLine?: ((line: string) => void) | undefined;
}

/**
 * Reports the settings, and tries them: creates a thread and, with a prompt, starts a
 * run and follows it as a user would.
 *
 * @returns Whether nothing failed.
 * @throws Whatever standard output rejects with.
 */
export async function runCheck(options: RunCheckOptions): Promise<boolean> {
  const { baseUrl, prompt, timeLimit, stdout } = options;
  using deadline = new Deadline(timeLimit ?? LIMIT);
  const report = new Report(stdout, options);
  await report.version(versionLine().trimEnd());
  const settings = await checkSettings(report, baseUrl);
  if (settings === undefined) return false;
  await using gateway = new RemoteGateway(settings);
  const { signal } = deadline;
  const threadId = await checkThread(report, gateway, signal);
  if (threadId !== undefined && prompt !== undefined) {
    if (timeLimit === undefined) deadline.meet();
    const run = { threadId, prompt, signal, onLine: options.onLine };
    await checkRun(report, { gateway, settings, ...run });
  }
  return !report.hasFailed;
}

async function checkSettings(
  report: Report,
  baseUrl: string | undefined,
): Promise<Settings | undefined> {
  const warn = async (warnings: readonly string[]) => {
    for (const text of warnings) await report.line("note", "settings", text);
  };
  try {
    const settings = loadSettings({ baseUrl });
    const { apiKey, sources, proxy } = settings;
    const key = `key ${maskKey(apiKey)} ${from(sources.apiKey)}`;
    const service = `service ${settings.baseUrl} ${from(sources.baseUrl)}`;
    await report.line("ok", "settings", `${key}, ${service}`);
    await warn(settings.warnings);
    const text = settings.isLocal
      ? "none for a service on this machine"
      : proxy === undefined
      ? "none"
      : `${proxy.origin} from ${proxy.variable}`;
    await report.line("ok", "proxy", text);
    return settings;
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    await warn(error.warnings);
    await report.line("failed", "settings", error.message);
    return undefined;
  }
}

function from(source: string): string {
  if (source === "built-in") return "(built in)";
  return `from ${source === "environment" ? "the environment" : source}`;
}

async function checkThread(
  report: Report,
  gateway: RemoteGateway,
  signal: AbortSignal,
): Promise<string | undefined> {
  const started = performance.now();
  const time = () => ({ milliseconds: performance.now() - started });
  try {
    const id = await threadIdFrom(gateway.createThread({ signal }));
    const text = `${id} was created: the key is accepted`;
    await report.line("ok", "thread", text, time());
    return id;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { message, failure } = error;
    await report.line("failed", "thread", message, { ...time(), failure });
    return undefined;
  }
}

async function checkRun(
  report: Report,
  { gateway, settings, threadId, prompt, signal, onLine }: {
    readonly gateway: RemoteGateway;
    readonly settings: Settings;
    readonly threadId: string;
    readonly prompt: string;
    readonly signal: AbortSignal;
    readonly onLine?: ((line: string) => void) | undefined;
  },
): Promise<void> {
  const started = performance.now();
  const facts = new StreamFacts(new Redactor(settings.apiKey), onLine);
  let runId: string | undefined;
  let failed: ServiceError | undefined;
  try {
    const options = { observer: facts, signal };
    const turn = gateway.runTurn(threadId, prompt, options);
    for await (const event of turn) {
      if (event.type !== "run") continue;
      facts.begin();
      ({ runId } = event);
      const milliseconds = performance.now() - started;
      const text = `${runId} was accepted`;
      await report.line("ok", "run", text, { milliseconds });
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    failed = error;
  }
  if (failed !== undefined && !facts.isOpen) {
    const { message, failure } = failed;
    const name = runId === undefined ? "run" : "stream";
    await report.line("failed", name, message, { failure });
  } else {
    for (const line of facts.lines(failed, settings.proxy?.origin)) {
      await report.add(line);
    }
  }
  if (runId === undefined) return;
  await checkWrongKey(report, settings);
  if (failed !== undefined) return;
  await checkResuming(report, gateway, { threadId, runId }, facts.lastEventId);
}

async function checkWrongKey(
  report: Report,
  settings: Settings,
): Promise<void> {
  const apiKey = crypto.randomUUID();
  using deadline = new Deadline(WRONG_KEY_LIMIT);
  await using stranger = new RemoteGateway({ ...settings, apiKey });
  try {
    await threadIdFrom(stranger.createThread(deadline));
    const text = "a wrong key creates threads; answer 401";
    await report.line("failed", "wrong key", text);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { status } = error.failure;
    const answer = `a thread with a wrong key gets ${status ?? "no answer"}`;
    const isRefused = status === 401 || status === 403;
    if (isRefused) await report.line("ok", "wrong key", answer);
    else await report.line("note", "wrong key", `${answer}; answer 401`);
  }
}

/** Reports whether a client that loses its stream just before the reply can still get it. */
async function checkResuming(
  report: Report,
  gateway: RemoteGateway,
  run: RunIds,
  lastEventId: string | undefined,
): Promise<void> {
  if (lastEventId === undefined) {
    const text = "not tested: needs an event with an id before the reply";
    return await report.line("-", "resume", text);
  }
  using deadline = new Deadline(RESUME_LIMIT);
  const outcome = await gateway.replyAfter(run, lastEventId, deadline);
  const asked = "after the run, a request with Last-Event-ID";
  if (outcome === "reply") {
    return await report.line("ok", "resume", `${asked} gets the reply`);
  }
  const advice = "keep a run's events for a few minutes";
  await report.line("note", "resume", `${asked} ${outcome}; ${advice}`);
}
