/**
 * Proves that the simulation finds what it is made for: each mutant below breaks the
 * program in one place, and a story has to show it.
 *
 *     deno task mutants [WORD]      those whose description holds the word
 *
 * Each is tried with its seed first; if stories are drawn differently by now, with others
 * until one shows it, whose seed is written into this file. Run it after a change of the
 * simulation, and before a release.
 *
 * @module
 */

import { cp } from "node:fs/promises";
import { SourceCopy } from "../support/source_copy.ts";

interface Mutant {
  readonly what: string;
  readonly file: string;
  /** Text that the file has once, and what takes its place. */
  readonly from: string;
  readonly to: string;
  readonly seed: number;
}

export const MUTANTS: readonly Mutant[] = [
  {
    what: "fate: a prompt that may have been taken did not run",
    file: "lib/gateway/failure/fate.ts",
    from: 'return operation === "create run" ? "may have run" : "not run";',
    to: 'return "not run";',
    seed: 5,
  },
  {
    what: "fate: a run that cannot be followed did not run",
    file: "lib/gateway/failure/fate.ts",
    from: 'if (stage !== "unknown run") return "may go on";',
    to: 'if (stage !== "unknown run") return "not run";',
    seed: 2,
  },
  {
    what: "fate: 500 is a refusal",
    file: "lib/gateway/failure/fate.ts",
    from: "status >= 500 ||",
    to: "status > 500 ||",
    seed: 74,
  },
  {
    what: "fate: no request is handed over",
    file: "lib/gateway/failure/call_state.ts",
    from: 'this.#stage = "perhaps taken";',
    to: 'this.#stage = "not sent";',
    seed: 123,
  },
  {
    what: "fate: a failure that the service told counts for ever",
    file: "lib/gateway/stream/run_events.ts",
    from: "{ words: record.failure.words, isOutdated: true }",
    to: "{ words: record.failure.words, isOutdated: false }",
    seed: 86,
  },
  {
    what: "exit code: a prompt that ran is forgotten",
    file: "lib/interactive/exit_code.ts",
    from: "  complete(): void {\n    this.#mayHaveRun = true;",
    to: "  complete(): void {\n    this.#mayHaveRun = false;",
    seed: 846,
  },
  {
    what: "exit code: 5 gives way to a later 3",
    file: "lib/interactive/exit_code.ts",
    from: "this.#mayHaveRun && NOTHING_STARTED",
    to: "false && NOTHING_STARTED",
    seed: 846,
  },
  {
    what: "retries: a POST after every problem that may pass",
    file: "lib/gateway/failure/retry_policy.ts",
    from: "const { pauses }: TemporaryProblem = PROBLEMS[problem];",
    to: 'const { pauses = "retry" }: TemporaryProblem = PROBLEMS[problem];',
    seed: 0,
  },
  {
    what: "retries: no pause that the service asks for",
    file: "lib/gateway/failure/retry_policy.ts",
    from: "if (milliseconds === 0) return retry;",
    to: "if (milliseconds >= 0) return retry;",
    seed: 167,
  },
  {
    what: "retries: pauses of any length are waited for",
    file: "lib/gateway/failure/retry_policy.ts",
    from: "retryAfter <= timeouts.retryAfter",
    to: "retryAfter <= 10 * timeouts.retryAfter",
    seed: 846,
  },
  {
    what: "retries: a connection that was closed before the request is final",
    file: "lib/gateway/connection/connection_rows.ts",
    from: '    problem: "connection closed",\n',
    to: "",
    seed: 152,
  },
  {
    what: "retries: what a peer writes says that nothing was sent",
    file: "lib/gateway/connection/known_failures.ts",
    from: "/^error sending request .*?: client error \\((\\w+)\\): /",
    to: "/^error sending request .*: .*client error \\((\\w+)\\): /",
    seed: 160,
  },
  {
    what: "limits: silence for ever",
    file: "lib/gateway/http/silences.ts",
    from: "else wait.onExceeded(new SilenceError(wait.limit));",
    to: "else this.#wait = undefined;",
    seed: 1,
  },
  {
    what: "limits: a silence of four times the longest, whatever that is",
    file: "lib/gateway/failure/retry_policy.ts",
    from: "return Math.min(idle, Math.max(VANISHED, SILENCES * longest));",
    to: "return Math.max(VANISHED, SILENCES * longest);",
    seed: 209,
  },
  {
    what: "limits: a stop counts as silence",
    file: "lib/io/awake_clock.ts",
    from: "Math.min(this.#sinceTick, TICK + LATE)",
    to: "this.#sinceTick",
    seed: 1041,
  },
  {
    what: "limits: a timer that comes late reads nothing first",
    file: "lib/io/timeout.ts",
    from: "isLate && hasGrace ? Math.min(5 * late, MAX_GRACE) : 0",
    to: "isLate && hasGrace ? 0 : 0",
    seed: 1160,
  },
  {
    what: "limits: a minute for writing",
    file: "lib/io/time_limit.ts",
    from: "const WRITE_LIMIT = 5_000;",
    to: "const WRITE_LIMIT = 60_000;",
    seed: 67,
  },
  {
    what: "again: empty streams are asked for again and again",
    file: "lib/gateway/failure/retry_policy.ts",
    from: "const MAX_EMPTY = 5;",
    to: "const MAX_EMPTY = 50;",
    seed: 380,
  },
  {
    what: "again: old events have no time of their own",
    file: "lib/gateway/failure/retry_policy.ts",
    from: "return now - openedAt >= resume;",
    to: "return openedAt >= resume;",
    seed: 661,
  },
  {
    what: "again: an outage of 20 s is the end",
    file: "lib/gateway/timeouts.ts",
    from: "outage: 120_000,",
    to: "outage: 20_000,",
    seed: 305,
  },
  {
    what: "cursor: a reply is skipped with the old events",
    file: "lib/gateway/stream/stream_cursor.ts",
    from: "const isNew = !this.isReplaying || isReply(event);",
    to: "const isNew = !this.isReplaying;",
    seed: 1643,
  },
  {
    what: "cursor: old events move it",
    file: "lib/gateway/stream/stream_cursor.ts",
    from: "if (this.#id !== undefined && !this.isReplaying) {",
    to: "if (this.#id !== undefined) {",
    seed: 1343,
  },
  {
    what: "cursor: a stream that starts over is not recognised",
    file: "lib/gateway/stream/stream_cursor.ts",
    from: 'return id === firstId ? "in old events" : "in new events";',
    to: 'return firstId === "" ? "in old events" : "in new events";',
    seed: 594,
  },
  {
    what: "resumption: no Last-Event-ID",
    file: "lib/gateway/stream/run_stream.ts",
    from: "if (id === undefined) return this.#request;",
    to: 'if (id !== "") return this.#request;',
    seed: 8,
  },
  {
    what: "resumption: also without ids",
    file: "lib/gateway/stream/run_stream.ts",
    from: "return this.#hasDelivered && lastEventId === undefined;",
    to: 'return this.#hasDelivered && lastEventId === "";',
    seed: 188,
  },
  {
    what: "cancellation: it drops nothing",
    file: "lib/bridge/session_prompt.ts",
    from: "    this.#controller.abort();",
    to: "",
    seed: 8,
  },
  {
    what: "cancellation: it is told as a failure",
    file: "lib/bridge/session_prompt.ts",
    from: 'if (signal.aborted) return { stopReason: "cancelled" };',
    to: "",
    seed: 8,
  },
  {
    what: "cancellation: the next prompt does not wait for the answer",
    file: "lib/bridge/session.ts",
    from: "this.#lastAnswered.then(() => prompt.run());",
    to: "prompt.run();",
    seed: 2592,
  },
  {
    what: "answers: none at the end of the input",
    file: "lib/bridge/dispatcher.ts",
    from: "while (!this.isIdle) await Promise.all(this.#tasks);",
    to: "",
    seed: 0,
  },
  {
    what: "answers: before the updates",
    file: "lib/bridge/session_prompt.ts",
    from: "    await this.#context.output.keepDistance(this.#updates);\n",
    to: "",
    seed: 17,
  },
  {
    what: "connections: none is closed",
    file: "lib/gateway/connection/call_connection.ts",
    from: "  close(): void {\n    this.#client?.close();",
    to: "  close(): void {",
    seed: 0,
  },
  {
    what: "answers: a session that is loaded shows no prompts",
    file: "lib/bridge/session.ts",
    from: "    this.transcript.add(prompt.said);\n",
    to: "",
    seed: 29,
  },
  {
    what: "key: words of the service are shown with it",
    file: "lib/text/redactor.ts",
    from: "if (end < 0) return text;",
    to: "if (end < Infinity) return text;",
    seed: 43,
  },
  {
    what: "again: what has no id is news",
    file: "lib/gateway/stream/run_events.ts",
    from: "hasNews: events.length > 0 && hasMoved",
    to: "hasNews: events.length > 0",
    seed: 3004943,
  },
  {
    what: "relay: no request is handed over when the service has spoken",
    file: "lib/gateway/connection/call_connection.ts",
    from: "const onAnswer = () => {\n      this.#state.markPerhapsTaken();",
    to: "const onAnswer = () => {",
    seed: 82,
  },
  {
    what: "relay: requests are handed over before the service has spoken",
    file: "lib/gateway/connection/call_connection.ts",
    from: "if (relay?.hasAnswer !== false) this.#state.markPerhapsTaken();",
    to: "this.#state.markPerhapsTaken();",
    seed: 158,
  },
  {
    what: "relay: a connection ahead that is silent is waited for",
    file: "lib/gateway/connection/route.ts",
    from: "const AHEAD_SILENCE = 1_000;",
    to: "const AHEAD_SILENCE = 30_000;",
    seed: 25,
  },
  {
    what: "relay: a connection ahead stays open for minutes",
    file: "lib/gateway/connection/route.ts",
    from: "const AHEAD_LIMIT = 45_000;",
    to: "const AHEAD_LIMIT = 450_000;",
    seed: 3,
  },
  {
    what: "relay: of two connections that were asked, both stay open",
    file: "lib/gateway/connection/route.ts",
    from: "    loser.close();\n",
    to: "    if (loser === undefined) return answered;\n",
    seed: 786,
  },
  {
    what: "relay: a silent connection is waited for after the new one failed",
    file: "lib/gateway/connection/route.ts",
    from: "if (!await answersSoon()) throw error;",
    to: "if (fresh === ahead) throw error;",
    seed: 1025137,
  },
  {
    what: "relay: a service that says nothing is waited for",
    file: "lib/gateway/connection/relay.ts",
    from: "export const CONNECT_LIMIT = 20_000;",
    to: "export const CONNECT_LIMIT = 200_000;",
    seed: 16,
  },
  {
    what: "relay: it is not closed with its call",
    file: "lib/gateway/connection/call_connection.ts",
    from: "    this.#relay?.[Symbol.dispose]();\n",
    to: "    this.#relay = this.#relay?.isOver ? undefined : this.#relay;\n",
    seed: 0,
  },
  {
    what: "relay: without a listener, requests fail",
    file: "lib/gateway/connection/call_connection.ts",
    from: "|| !route?.mayBeSkipped) return false;\n",
    to: "|| !route?.isSkipped) return false;\n",
    seed: 0,
  },
  {
    what: "relay: without descriptors, requests fail",
    file: "lib/gateway/connection/call_connection.ts",
    from: "return obstacle !== undefined;",
    to: 'return obstacle === "loopback";',
    seed: 1,
  },
  {
    what: "relay: the GET does not wait until the connection is free",
    file: "lib/gateway.ts",
    from: "      await turnOfEventLoop();\n",
    to: "",
    seed: 29,
  },
  {
    what: "relay: a limit quotes the error that it makes itself",
    file: "lib/gateway/http/call.ts",
    from: 'stage === "not sent" && this.#connection.hasFailure',
    to: 'stage === "not sent"',
    seed: 7,
  },
  {
    what: "closing: it is answered before its prompt",
    file: "lib/bridge/session.ts",
    from: "    await this.#lastAnswered;",
    to: "",
    seed: 88,
  },
  {
    what: "closing: it cancels nothing",
    file: "lib/bridge/session.ts",
    from: "    this.cancel();\n    await this.#lastAnswered;",
    to: "    await this.#lastAnswered;",
    seed: 88,
  },
  {
    what: "closing: a session that is closed takes prompts",
    file: "lib/bridge/sessions.ts",
    from: "    this.#open.delete(id);\n",
    to: "",
    seed: 29,
  },
  {
    what: "cancellation: of all sessions",
    file: "lib/bridge/session.ts",
    from: "if (requestId === undefined || prompt.requestId === requestId) {",
    to: "if (this.#prompts.size > 0) {",
    seed: 8,
  },
  {
    what: "cancellation: a prompt that waited runs all the same",
    file: "lib/bridge/session_prompt.ts",
    from: "if (this.#controller.signal.aborted) return; // It was answered",
    to: "// It was answered",
    seed: 3,
  },
  {
    what: "resumption: what is no event counts as one",
    file: "lib/gateway/stream/run_stream.ts",
    from:
      "        if (events.length === 0) continue;\n        this.#hasDelivered = true;\n",
    to:
      "        this.#hasDelivered = true;\n        if (events.length === 0) continue;\n",
    seed: 59,
  },
  {
    what: "resumption: a failure that is repeated is one of the run",
    file: "lib/gateway/stream/run_events.ts",
    from: "if (this.#cursor.isReplaying) return true;",
    to: "if (this.#cursor.isReplaying) return false;",
    seed: 2630,
  },
  {
    what: "pauses: the field retry: is not heeded",
    file: "lib/gateway/stream/run_events.ts",
    from: 'this.#record.retry = Number(valueOf(line, "retry:"));',
    to: 'this.#record.retry = Number(valueOf(line, "retry:")) / 1e9;',
    seed: 25,
  },
  {
    what: "pauses: a stream that fails is asked for again at once",
    file: "lib/gateway/timeouts.ts",
    from: "reconnect: [500, 1_000, 2_000, 4_000, 8_000, 15_000],",
    to: "reconnect: [1],",
    seed: 4,
  },
  {
    what: "relay: a connection ahead that ended or spoke is used",
    file: "lib/gateway/connection/route.ts",
    from: "    ahead.firstBytes.then(drop, drop);\n",
    to: "    ahead.firstBytes.catch(() => {});\n",
    seed: 4434,
  },
  {
    what: "relay: a connection ahead that fails is the end",
    file: "lib/gateway/connection/route.ts",
    from: "const hasAnswer = early.then(() => true, () => false);",
    to: "const hasAnswer = early.then(() => true, () => true);",
    seed: 19,
  },
];

/** So many stories of each kind are played before a mutant counts as not found. */
const MOST = 5_000;

const ROOT = `${import.meta.dirname}/../..`;
const NEEDED = [
  "simulation",
  ...["clocks.ts", "random_numbers.ts"].map((name) => `support/${name}`),
];

/** Plays stories of the program in a copy. Returns the seed of the one that breaks. */
async function find(
  copy: SourceCopy,
  count: number,
  seed: number,
): Promise<string | undefined> {
  const { code, stdout, stderr } = await copy.deno([
    ...["run", "-q", "-P=launcher", "tools/deno.ts"],
    ...["run", "-q", "-P=test", "--no-prompt", "tests/simulation/search.ts"],
    ...[String(count), String(seed)],
  ]);
  if (code === 0) return undefined;
  const found = /Broken with seed (\d+).*\n.*/.exec(stdout)?.[0];
  return found ?? `failed: ${stderr}`;
}

/** Writes the seed that shows a mutant into its row. */
async function writeSeed(what: string, seed: string): Promise<void> {
  const path = `${import.meta.dirname}/mutants.ts`;
  const text = await Deno.readTextFile(path);
  const start = text.indexOf(JSON.stringify(what));
  const rest = text.slice(start).replace(/seed: \d+/, `seed: ${seed}`);
  await Deno.writeTextFile(path, text.slice(0, start) + rest);
}

async function main([word = ""]: readonly string[]): Promise<void> {
  await using copy = await SourceCopy.make();
  for (const name of NEEDED) {
    await cp(`${ROOT}/tests/${name}`, `${copy.folder}/tests/${name}`, {
      recursive: true,
    });
  }
  let alive = 0;
  for (const { what, file, from, to, seed } of MUTANTS) {
    if (!what.includes(word)) continue;
    const path = `${copy.folder}/${file}`;
    const source = await Deno.readTextFile(path);
    if (source.split(from).length !== 2) {
      throw new Error(`${file} does not have this once: ${from}`);
    }
    await Deno.writeTextFile(path, source.replace(from, () => to));
    const found = await find(copy, 1, seed) ?? await find(copy, MOST, 0);
    await Deno.writeTextFile(path, source);
    const own = await find(copy, 1, Number(found?.match(/\d+/)?.[0] ?? seed));
    if (own !== undefined) throw new Error(`The program itself: ${own}`);
    console.log(`${what}: ${found ?? "NOT FOUND"}`);
    const [, shownBy] = /^Broken with seed (\d+)/.exec(found ?? "") ?? [];
    if (shownBy === undefined) alive++;
    else await writeSeed(what, shownBy);
  }
  console.log(alive === 0 ? "All were found" : `${alive} were not found`);
  Deno.exit(alive === 0 ? 0 : 1);
}

if (import.meta.main) await main(Deno.args);
