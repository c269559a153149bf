/**
 * `--check`: reports the settings in effect and how far a request gets. The
 * report can be pasted into an issue: it contains no secrets.
 *
 * @module
 */

import { checkNetwork } from "./check/network_steps.ts";
import { Report } from "./check/report.ts";
import { probeRun, type ProbeRunOptions } from "./check/run_requests.ts";
import { streamFindings } from "./check/stream_findings.ts";
import { RemoteGateway, ServiceError } from "./gateway.ts";
import { type ByteSink, timeLeft, within } from "./io.ts";
import { loadSettings, type Settings } from "./settings.ts";
import { maskKey, shownText } from "./text.ts";
import { versionLine } from "./version.ts";

/** How long the check may take by default, up to the thread, in milliseconds. */
const LIMIT = 30_000;

export interface RunCheckOptions {
  /** The value of `--base-url`, if it was given. */
  readonly baseUrl: string | undefined;
  /** A prompt to run, to report what its stream is like. */
  readonly prompt: string | undefined;
  /** The milliseconds for the whole check. By default 30 s, and no limit for a run. */
  readonly timeLimit: number | undefined;
  /** Whether the report is JSON Lines. */
  readonly json: boolean;
  /** The report is written to it. */
  readonly stdout: ByteSink;
  /** Called for each line of the run's stream, clean and without the key. */
  readonly onLine?: ((line: string) => void) | undefined;
}

/**
 * Tries the settings step by step and writes a line about each step: its state,
 * name and duration, and the result or what to do. A thread is created. With a
 * prompt, a run follows, and lines about its stream.
 *
 * @returns Whether nothing failed.
 * @throws Whatever standard output rejects with.
 */
export async function runCheck(options: RunCheckOptions): Promise<boolean> {
  const { baseUrl, prompt, timeLimit, stdout, onLine } = options;
  const limit = { milliseconds: timeLimit ?? LIMIT, since: performance.now() };
  const report = new Report(stdout, options);
  await report.version(versionLine().trimEnd());
  const warnings: string[] = [];
  const settings = await report.step({
    name: "settings",
    act: () => loadSettings({ baseUrl, warn: (line) => warnings.push(line) }),
    tell: tellSettings,
  });
  for (const text of warnings) {
    await report.line({ state: "note", name: "settings", text });
  }
  if (settings === undefined) return false;
  await within(timeLeft(limit), checkNetwork(settings, report), () => {});
  await using gateway = new RemoteGateway(settings);
  const threadId = await report.step({
    name: "thread",
    act: async () => {
      const creation = gateway.createThread({ timeLimit: limit });
      const events = (await Array.fromAsync(creation)).flat();
      return events.find((event) => event.type === "thread")?.threadId;
    },
    tell: (id) =>
      `${id} was created: the key is accepted${
        prompt === undefined ? "; no run was started" : ""
      }`,
  });
  if (threadId !== undefined && prompt !== undefined) {
    await checkRun(gateway, settings, {
      ...{ report, threadId, prompt, onLine },
      timeLimit: timeLimit === undefined ? undefined : limit,
    });
  }
  return !report.hasFailed;
}

/** Runs a prompt, and tells about its stream. */
async function checkRun(
  gateway: RemoteGateway,
  settings: Settings,
  { report, onLine, ...run }:
    & Omit<ProbeRunOptions, "gateway" | "stranger" | "onRun">
    & { readonly report: Report },
): Promise<void> {
  const { apiKey } = settings;
  const wrongKey = crypto.randomUUID();
  await using stranger = new RemoteGateway({ ...settings, apiKey: wrongKey });
  let started = performance.now();
  try {
    const probed = await probeRun({
      ...{ gateway, stranger, ...run },
      onLine: onLine &&
        ((line) => onLine(shownText(line, { apiKey, maxLength: Infinity }))),
      onRun: async (runId) => {
        const milliseconds = performance.now() - started;
        const text = `${runId} was accepted`;
        await report.line({ state: "ok", name: "run", milliseconds, text });
        started = performance.now();
      },
    });
    for (const line of streamFindings(probed, settings)) {
      await report.line(line);
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { message: text, failure } = error;
    const name = failure.operation === "stream run" ? "stream" : "run";
    const milliseconds = performance.now() - started;
    await report.line({ state: "failed", name, milliseconds, text, failure });
  }
}

function tellSettings({ apiKey, baseUrl, sources }: Settings): string {
  const from = (source: string) =>
    source === "built-in"
      ? "(built in)"
      : `from ${source === "environment" ? "the environment" : source}`;
  return `key ${maskKey(apiKey)} ${from(sources.apiKey)}, service ${baseUrl} ${
    from(sources.baseUrl)
  }`;
}
