/**
 * `--check`: reports the settings in effect and how far a request gets. The
 * report can be pasted into an issue: it contains no secrets.
 *
 * @module
 */

import { connect, openResolver, startTls } from "./check/probes.ts";
import { Report, type Told } from "./check/report.ts";
import { probeRun, type ProbeRunOptions } from "./check/run_probe.ts";
import { streamFindings } from "./check/stream_findings.ts";
import { RemoteGateway, ServiceError } from "./gateway.ts";
import { type ByteSink, environmentVariable, timeLeft, within } from "./io.ts";
import { loadSettings, type Settings } from "./settings.ts";
import { maskKey, shownText } from "./text.ts";
import { versionLine } from "./version.ts";

/** How long the check may take by default, up to the thread, in milliseconds. */
const LIMIT = 30_000;

/** A certificate that is valid for so many days or fewer gets a note. */
const FEW_DAYS = 14;

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

/**
 * Tries the connection to the service, or to the proxy in between, up to the
 * first failure. The request that follows reports the reason and what to do.
 */
async function checkNetwork(
  { baseUrl, isLocal, proxy }: Settings,
  report: Report,
): Promise<void> {
  const url = new URL(baseUrl);
  const text = isLocal
    ? "none for a service on this machine"
    : proxy === undefined
    ? "none"
    : `${proxy.origin} from ${proxy.variable}`;
  await report.line({ state: "ok", name: "proxy", text });
  const target = proxy === undefined ? url : new URL(proxy.origin);
  // Before the step, which is timed: loading the resolver takes longer than using it.
  const resolve = await openResolver();
  const addresses = await report.step({
    name: "name",
    act: () => resolve(target),
    tell: (found) => `${target.hostname} is ${found.join(", ")}`,
    failure: `the name ${target.hostname} cannot be resolved`,
  });
  if (addresses === undefined) return;
  const endpoint = await report.step({
    name: "connection",
    act: () => connect(addresses, target),
    tell: ({ address, port }) => `to ${address}, port ${port}`,
    failure: proxy === undefined
      ? `nothing answers at ${target.host}`
      : `the proxy ${proxy.origin} from ${proxy.variable} does not answer`,
  });
  if (endpoint === undefined) return;
  for (const address of endpoint.failed) {
    const text = `${address} does not answer, and each request waits for it`;
    await report.line({ state: "note", name: "connection", text });
  }
  if (proxy !== undefined || url.protocol === "http:") {
    const text = proxy === undefined
      ? "not with http:"
      : "through the proxy, with the thread";
    return await report.line({ state: "-", name: "TLS", text });
  }
  await report.step({
    name: "TLS",
    act: () => startTls(endpoint, url),
    tell: tellDays,
    failure:
      "no connection that can be trusted; the line about the thread says why",
  });
}

function tellDays(days: number): Told {
  if (days <= FEW_DAYS) {
    const text = `the certificate expires in ${days} days; renew it`;
    return { state: "note", text };
  }
  const time = Number.isNaN(days) ? "" : ` for ${days} days`;
  const file = environmentVariable("DENO_CERT");
  return `the certificate is valid${time}${file ? `, with ${file}` : ""}`;
}
