/**
 * `--check`: reports the settings in effect and how far a request gets. The
 * report can be pasted into an issue: it contains no secrets.
 *
 * @module
 */

import { frontSetting } from "./check/fronts.ts";
import {
  connect,
  type Endpoint,
  openResolver,
  startTls,
} from "./check/probes.ts";
import { Report } from "./check/report.ts";
import { streamFindings } from "./check/stream_findings.ts";
import {
  ignoreProxies,
  type Proxy,
  proxyFor,
  RemoteGateway,
  ServiceError,
} from "./gateway.ts";
import { type ByteSink, environmentVariable } from "./io.ts";
import { loadSettings, type Settings } from "./settings.ts";
import { maskKey } from "./text.ts";
import { versionLine } from "./version.ts";

/** How long the service may take to create a thread, in milliseconds. */
const ANSWER_LIMIT = 30_000;

export interface RunCheckOptions {
  /** The value of `--base-url`, if it was given. */
  readonly baseUrl: string | undefined;
  /** A prompt to run, to report what its stream is like. */
  readonly prompt: string | undefined;
  /** How long the prompt may take, in milliseconds. By default there is no limit. */
  readonly timeLimit: number | undefined;
  /** Whether the report is JSON Lines. */
  readonly json: boolean;
  /** The report is written to it. */
  readonly stdout: ByteSink;
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
  const { baseUrl, prompt, timeLimit, stdout } = options;
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
  await checkNetwork(settings, report);
  await using gateway = new RemoteGateway(settings);
  const threadId = await report.step({
    name: "thread",
    act: () => createThread(gateway),
    tell: (id) =>
      `${id} was created: the key is accepted${
        prompt === undefined ? "; no run was started" : ""
      }`,
  });
  if (threadId !== undefined && prompt !== undefined) {
    await checkRun(gateway, { threadId, prompt, timeLimit }, report);
  }
  return !report.hasFailed;
}

/** Runs a prompt, and tells about its stream. */
async function checkRun(
  gateway: RemoteGateway,
  { threadId, prompt, timeLimit }: {
    readonly threadId: string;
    readonly prompt: string;
    readonly timeLimit: number | undefined;
  },
  report: Report,
): Promise<void> {
  const run = gateway.inspectRun(threadId, prompt, { timeLimit });
  let started = performance.now();
  try {
    for (;;) {
      const { done, value } = await run.next();
      if (done) {
        for (const line of streamFindings(value)) await report.line(line);
        return;
      }
      for (const event of value) {
        if (event.type !== "run") continue;
        const milliseconds = performance.now() - started;
        const text = `${event.runId} was accepted`;
        await report.line({ state: "ok", name: "run", milliseconds, text });
        started = performance.now();
      }
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { message, failure: { operation, server } } = error;
    const isStream = operation === "stream run";
    const setting = server === undefined
      ? ""
      : `; ${frontSetting("compressed", server)}`;
    await report.line({
      state: "failed",
      name: isStream ? "stream" : "run",
      milliseconds: performance.now() - started,
      text: message + setting,
    });
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
  { baseUrl, isLocal }: Settings,
  report: Report,
): Promise<void> {
  const url = new URL(baseUrl);
  if (isLocal) ignoreProxies();
  const proxy = await report.step({
    name: "proxy",
    act: () => ({ found: isLocal ? undefined : proxyFor(url) }),
    tell: ({ found }) => tellProxy(found, isLocal),
  });
  const target = proxy?.found === undefined ? url : new URL(proxy.found.origin);
  // Not part of the step: loading the resolver takes longer than using it.
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
    failure: proxy?.found === undefined
      ? `nothing answers at ${target.host}`
      : `the proxy ${proxy.found.origin} from ${proxy.found.variable} does not answer`,
  });
  if (endpoint === undefined) return;
  await checkTls(endpoint, { url, isProxied: target !== url, report });
}

async function checkTls(
  { connection }: Endpoint,
  { url, isProxied, report }: {
    readonly url: URL;
    readonly isProxied: boolean;
    readonly report: Report;
  },
): Promise<void> {
  if (isProxied || url.protocol === "http:") {
    connection.close();
    return await report.line({
      state: "-",
      name: "TLS",
      text: isProxied ? "through the proxy, with the thread" : "not with http:",
    });
  }
  const file = environmentVariable("DENO_CERT");
  await report.step({
    name: "TLS",
    act: () => startTls(connection, url),
    tell: () => `the certificate is valid${file ? `, with ${file}` : ""}`,
    failure:
      "no connection that can be trusted; the line about the thread says why",
  });
}

function tellProxy(proxy: Proxy | undefined, isLocal: boolean): string {
  if (isLocal) return "none for a service on this machine";
  return proxy === undefined
    ? "none"
    : `${proxy.origin} from ${proxy.variable}`;
}

async function createThread(gateway: RemoteGateway): Promise<string> {
  const creation = gateway.createThread({ timeLimit: ANSWER_LIMIT });
  for await (const events of creation) {
    for (const event of events) {
      if (event.type === "thread") return event.threadId;
    }
  }
  throw new Error("no thread came");
}
