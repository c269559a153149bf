/**
 * `--check`: reports the settings in effect and how far a request gets. The
 * report can be pasted into an issue: it contains no secrets.
 *
 * @module
 */

import {
  connect,
  type Endpoint,
  openResolver,
  startTls,
} from "./check/probes.ts";
import { fetchWarning } from "./deno_fetch_warning.ts";
import { environmentVariable } from "./environment_variable.ts";
import { RemoteGateway } from "./gateway.ts";
import { maskKey } from "./key_mask.ts";
import { plainLine } from "./plain_text.ts";
import { ignoreProxies, type Proxy, proxyFor } from "./proxies.ts";
import { loadSettings, type Settings } from "./settings.ts";
import type { ByteSink } from "./standard_streams.ts";
import { versionLine } from "./version.ts";

/** How long the service may take to create a thread, in milliseconds. */
const ANSWER_LIMIT = 30_000;

/** Options of {@linkcode runCheck}. */
export interface RunCheckOptions {
  /** The value of `--base-url`, if it was given. */
  readonly baseUrl: string | undefined;
  /** The report is written to it. */
  readonly stdout: ByteSink;
}

/**
 * Tries the settings step by step and writes a line about each step: `ok`,
 * `failed`, or `-` if it was skipped; its name; its duration; and the result or
 * what to do. A thread is created, but no run.
 *
 * @returns The exit code: 0 if the service has created a thread, else 1.
 * @throws Whatever standard output rejects with.
 */
export async function runCheck(
  { baseUrl, stdout }: RunCheckOptions,
): Promise<number> {
  const report = new Report(stdout);
  await report.write(versionLine());
  const warnings = [...fetchWarning(Deno.version.deno)];
  const settings = await report.step({
    name: "settings",
    act: () =>
      loadSettings({ baseUrl, warn: (line) => void warnings.push(line) }),
    tell: tellSettings,
  });
  for (const line of warnings) await report.line("warning", line);
  if (settings === undefined) return 1;
  await checkNetwork(settings, report);
  const threadId = await report.step({
    name: "key",
    act: () => createThread(settings),
    tell: (id) => `accepted: thread ${id} was created, and no run`,
  });
  return threadId === undefined ? 1 : 0;
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
    return await report.line(
      "-",
      isProxied ? "through the proxy, with the key" : "not with http:",
      { name: "TLS" },
    );
  }
  const file = environmentVariable("DENO_CERT");
  await report.step({
    name: "TLS",
    act: () => startTls(connection, url),
    tell: () => `the certificate is valid${file ? `, with ${file}` : ""}`,
    failure:
      "no connection that can be trusted; the line about the key says why",
  });
}

function tellProxy(proxy: Proxy | undefined, isLocal: boolean): string {
  if (isLocal) return "none for a service on this machine";
  return proxy === undefined
    ? "none"
    : `${proxy.origin} from ${proxy.variable}`;
}

async function createThread(settings: Settings): Promise<string> {
  const signal = AbortSignal.timeout(ANSWER_LIMIT);
  try {
    return await new RemoteGateway(settings).createThread({ signal });
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new Error(
      `The service did not answer within ${
        ANSWER_LIMIT / 1000
      } s; check the base URL and the network, or ask who runs the service`,
    );
  }
}

/** One step of the check. */
interface Step<T> {
  readonly name: string;
  readonly act: () => T | Promise<T>;
  /** Describes the result in the report. */
  readonly tell: (result: T) => string;
  /** What is told of a failure; the error's own words unless told. */
  readonly failure?: string;
}

/** Writes a line about each step. */
class Report {
  readonly #stdout: ByteSink;

  constructor(stdout: ByteSink) {
    this.#stdout = stdout;
  }

  /** Runs a step. Returns its result, or `undefined` if it failed. */
  async step<T>({ name, act, tell, failure }: Step<T>): Promise<T | undefined> {
    const start = performance.now();
    const duration = () => `${(performance.now() - start).toFixed(0)} ms`;
    try {
      const result = await act();
      await this.line("ok", tell(result), { name, duration: duration() });
      return result;
    } catch (error) {
      const reason = failure ??
        (error instanceof Error ? error.message : String(error));
      await this.line("failed", reason, { name, duration: duration() });
      return undefined;
    }
  }

  /** Writes a line in columns. */
  async line(
    state: "ok" | "failed" | "warning" | "-",
    text: string,
    { name = "", duration = "" }: {
      readonly name?: string;
      readonly duration?: string;
    } = {},
  ): Promise<void> {
    await this.write(
      `${state.padEnd(7)}  ${name.padEnd(10)}  ${duration.padStart(8)}  ${
        plainLine(text)
      }\n`,
    );
  }

  /** Writes a text. */
  async write(text: string): Promise<void> {
    await this.#stdout.write(new TextEncoder().encode(text));
  }
}
