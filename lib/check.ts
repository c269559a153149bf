/**
 * `--check`: reports the settings in effect, and what a front end sees of the service.
 * The report can be pasted into an issue: it contains no secrets.
 *
 * @module
 */

import { Report } from "./check/report.ts";
import { RunReport } from "./check/run_report.ts";
import {
  RemoteGateway,
  ServiceError,
  threadIdFrom,
  type TurnEvent,
} from "./gateway.ts";
import { type ByteSink, Deadline, TimeLimit } from "./io.ts";
import { loadSettings, type Settings, SettingsError } from "./settings.ts";
import {
  KEYLESS,
  type Redacted,
  Redactor,
  safe,
  type ServiceId,
  unchanged,
} from "./text.ts";
import { versionLine } from "./version.ts";

/** How long a check without a prompt may take by default, in milliseconds. */
const LIMIT = 30_000;

/** How long a request with a wrong key may take, in milliseconds. */
const WRONG_KEY_LIMIT = 10_000;

export interface RunCheckOptions {
  readonly baseUrl: string | undefined;
  /** A prompt to run, to report what users see of its run. */
  readonly prompt: string | undefined;
  /** The milliseconds for the whole check. By default 30 s; with a prompt, no limit. */
  readonly timeLimit: number | undefined;
  readonly json: boolean;
  readonly stdout: ByteSink;
}

/**
 * Reports the settings, and tries them: creates a thread and, with a prompt, starts a
 * run and follows it as a user would.
 *
 * @returns Whether nothing failed.
 * @throws Whatever standard output rejects with.
 */
export async function runCheck(options: RunCheckOptions): Promise<boolean> {
  const { prompt, timeLimit, stdout } = options;
  const usual = prompt === undefined ? LIMIT : undefined;
  using limit = new TimeLimit(timeLimit ?? usual);
  const report = new Report(stdout, options);
  const isRead = await limit.endsInTime(check(report, options, limit.signal));
  return isRead && !report.hasFailed;
}

async function check(
  report: Report,
  { baseUrl, prompt }: RunCheckOptions,
  signal: AbortSignal,
): Promise<void> {
  const text = KEYLESS.show(versionLine());
  await report.add({ state: "ok", name: "version", text });
  const settings = await checkSettings(report, baseUrl);
  if (settings === undefined) return;

  await using gateway = gatewayFor(settings);
  const threadId = await checkThread(report, gateway, signal);
  if (threadId === undefined || prompt === undefined) return;
  await checkWrongKey(report, settings, signal);
  await checkRun(
    report,
    gateway.runTurn(threadId, unchanged(prompt), { signal }),
  );
}

function gatewayFor(settings: Settings): RemoteGateway {
  return new RemoteGateway({ ...settings, connectsAhead: false });
}

async function checkSettings(
  report: Report,
  baseUrl: string | undefined,
): Promise<Settings | undefined> {
  const name = "settings";
  const warnings: string[] = [];
  const addWarnings = async () => {
    for (const text of warnings) {
      await report.add({ state: "note", name, text: KEYLESS.show(text) });
    }
  };
  let settings;
  try {
    settings = loadSettings(baseUrl, (line) => warnings.push(line));
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    await addWarnings();
    const text = KEYLESS.show(error.message);
    await report.add({ state: "failed", name, text });
    return undefined;
  }
  const { apiKey, sources } = settings;
  // No character of the key: reports are pasted into issues.
  const key = safe`key of ${apiKey.length} characters ${from(sources.apiKey)}`;
  const redactor = new Redactor(apiKey);
  const url = redactor.show(settings.baseUrl);
  const text = safe`${key}, service ${url} ${from(sources.baseUrl)}`;
  await report.add({ state: "ok", name, text });
  await addWarnings();
  const proxy = proxyOf(settings, redactor);
  await report.add({ state: "ok", name: "proxy", text: proxy });
  return settings;
}

function from(source: Settings["sources"]["baseUrl"]): Redacted {
  if (source === "built-in") return safe`(built in)`;
  return safe`from ${source === "environment" ? "the environment" : source}`;
}

function proxyOf(
  { isLocal, proxy }: Settings,
  redactor: Redactor,
): Redacted {
  if (isLocal) return safe`none for a service on this machine`;
  if (proxy === undefined) return safe`none`;
  return safe`${redactor.show(proxy.origin)} from ${proxy.variable}`;
}

async function checkThread(
  report: Report,
  gateway: RemoteGateway,
  signal: AbortSignal,
): Promise<ServiceId | undefined> {
  const name = "thread";
  const started = performance.now();
  try {
    const threadId = await threadIdFrom(gateway.createThread({ signal }));
    const milliseconds = performance.now() - started;
    const text = safe`${threadId} was created: the key is accepted`;
    await report.add({ state: "ok", name, text, milliseconds });
    return threadId;
  } catch (error) {
    await report.fail(name, error, performance.now() - started);
    return undefined;
  }
}

/** Reports whether the service refuses to create a thread for a wrong key. */
async function checkWrongKey(
  report: Report,
  settings: Settings,
  signal: AbortSignal,
): Promise<void> {
  const name = "wrong key";
  using deadline = new Deadline(WRONG_KEY_LIMIT, signal);
  const apiKey = crypto.randomUUID();
  await using gateway = gatewayFor({ ...settings, apiKey });
  let status: number | undefined;
  try {
    for await (const event of gateway.createThread(deadline)) {
      if (event.type === "thread") {
        const text = safe`a wrong key creates threads; answer 401`;
        return await report.add({ state: "failed", name, text });
      }
      status = event.status;
      // The service is busy: what it would answer later is not waited for.
      if (status !== undefined) break;
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    status = error.status;
  }
  const text = safe`a thread with a wrong key gets ${status ?? "no answer"}`;
  if (status === 401 || status === 403) {
    return await report.add({ state: "ok", name, text });
  }
  const advice = safe`${text}; answer 401`;
  await report.add({ state: "note", name, text: advice });
}

/** Reports what the events of a run show. */
async function checkRun(
  report: Report,
  turn: AsyncIterable<TurnEvent>,
): Promise<void> {
  const name = "run";
  const started = performance.now();
  let run: RunReport | undefined;
  let error: ServiceError | undefined;
  try {
    for await (const event of turn) {
      if (event.type === "run") {
        run = new RunReport();
        const milliseconds = performance.now() - started;
        const text = safe`${event.runId} was accepted`;
        await report.add({ state: "ok", name, text, milliseconds });
      }
      run?.add(event);
    }
  } catch (cause) {
    if (run === undefined || !(cause instanceof ServiceError)) {
      return await report.fail(name, cause);
    }
    error = cause;
  }
  for (const line of run?.lines(error) ?? []) await report.add(line);
}
