import { assertEquals, assertMatch } from "@std/assert";
import { Client, type ClientOptions, settings } from "./client_process.ts";
import { type Behaviour, json } from "./service/behaviours.ts";
import { promptsOf, ReferenceService, TEST_KEY } from "./service/service.ts";

/** What the service does, with threads `t1`, `t2` and runs `r1`, `r2`. */
export interface Script {
  /** The streams of the runs; in brackets, an answer in place of a run. */
  readonly runs?: readonly (Behaviour | readonly [refusal: Behaviour])[];
  /** An answer in place of a thread. */
  readonly thread?: Behaviour;
}

/** Starts a service that does this. */
export function serve(
  { runs = [], thread }: Script,
  key = TEST_KEY,
): ReferenceService {
  const service = ReferenceService.start({ key });
  let threads = 0;
  const created = () => json({ thread_id: `t${++threads}` })();
  service.misbehave("create thread", thread ?? created, Infinity);
  let started = 0;
  for (const run of runs) {
    const isStream = typeof run === "function";
    const answer = isStream ? json({ run_id: `r${++started}` }) : run[0];
    service.misbehave("create run", answer);
    if (isStream) service.misbehave("stream", run);
  }
  return service;
}

/** What reached the service, a line each: method, path, and what the contract asks for. */
export function callsTo({ requests }: ReferenceService): readonly string[] {
  return requests.map(({ method, path, headers, body }) => {
    const type = headers.get(method === "GET" ? "accept" : "content-type");
    const parts = [method, path, headers.get("x-api-key"), type, body];
    return parts.filter((part) => part !== null && part !== "").join(" ");
  });
}

/** A start of the program, and what the service does. */
export interface Call extends ClientOptions, Script {
  readonly stdin?: string | Uint8Array;
  /** Whether standard input stays open, so that its end does not end the program. */
  readonly isOpen?: boolean;
}

/** What is expected of a call. */
export interface Told {
  /** The exit code, 0 by default. */
  readonly code?: number;
  readonly out?: string | RegExp;
  readonly err?: RegExp;
  /** What reached the service, or how much. */
  readonly calls?: readonly string[] | number;
  readonly prompts?: readonly string[];
}

/** Starts the program once, and asserts what is expected. */
export async function testCall(
  { stdin = "", isOpen, ...how }: Call,
  { code = 0, out = /(?:)/, err = /(?:)/, ...told }: Told,
): Promise<void> {
  const key = how.env?.APP_API_KEY;
  await using service = serve(how, key);
  const { APP_API_KEY, ...rest } = settings(service);
  const env = { ...rest, ...how.env ?? { APP_API_KEY } };
  await using client = new Client({ ...how, env });
  await client.write(stdin).catch(() => {}); // It may have ended.
  const output = await (isOpen ? client.output() : client.finish());
  if (typeof out === "string") assertEquals(output.stdout, out);
  else assertMatch(output.stdout, out);
  assertMatch(output.stderr, err);
  const calls = callsTo(service);
  const isCount = typeof told.calls === "number";
  if (told.calls !== undefined) {
    assertEquals(isCount ? calls.length : calls, told.calls);
  }
  if (told.prompts) assertEquals(promptsOf(service), told.prompts);
  if (how.env !== undefined && key === undefined) assertEquals(calls, []);
  assertEquals(output.code, code);
}
