import { assertEquals, assertMatch } from "@std/assert";
import { VERSION } from "../../lib/version.ts";
import { Client, settings } from "./client_process.ts";
import { unreachable } from "./faulty_service/service.ts";
import {
  answer,
  type Behaviour,
  complete,
  events,
  json,
  progress,
  type StreamItem,
} from "./service/behaviours.ts";
import { promptsOf, ReferenceService, TEST_KEY } from "./service/service.ts";

/** What the service does, with threads `t1`, `t2` and runs `r1`, `r2`. */
interface Script {
  /** The streams of the runs; in brackets, an answer in place of a run. */
  readonly runs?: readonly (Behaviour | readonly [refusal: Behaviour])[];
  /** An answer in place of a thread. */
  readonly thread?: Behaviour | undefined;
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
    const key = headers.get("x-api-key")?.replace(TEST_KEY, "KEY");
    const parts = [method, path, key, type, body];
    return parts.filter((part) => part !== null && part !== "").join(" ");
  });
}

/** `400`, `429 3600` with a Retry-After, or with JSON as its body. */
function answerOf(text: string): Behaviour {
  const [, status, rest = ""] = /^(\d+) ?(.*)$/.exec(text) ?? [];
  if (rest.startsWith("{")) return json(JSON.parse(rest), Number(status));
  return answer(Number(status), "", rest ? { "retry-after": rest } : {});
}

/** The stream of a run: events with ` ; ` between, and `hang` if it does not end. */
function streamOf(text: string): Behaviour {
  const parts = text.split(" ; ");
  const items = parts.filter((it) => it !== "hang").map((it): StreamItem => {
    if (it.startsWith("{")) return JSON.parse(it);
    if (it.startsWith("data:")) return `${it}\n`;
    const text = unescape(it);
    if (text.startsWith("= ")) return complete(text.slice(2));
    const colon = text.indexOf(": ");
    return progress(text.slice(0, colon), text.slice(colon + 2));
  });
  const end = parts.includes("hang") ? "hang" : "close";
  return events(items, { end, chunkSize: 3 });
}

function behaviourOf(text: string): Behaviour | readonly [Behaviour] {
  if (text.startsWith("! ")) return [answerOf(text.slice(2))];
  return text.startsWith("~ ") ? answerOf(text.slice(2)) : streamOf(text);
}

/** Resolves `\n`, `\x1b` and `\u2028`. */
function unescape(text: string): string {
  return text.replace(
    /\\(?:n|[xu]([\da-f]{4}|[\da-f]{2}))/g,
    (_, hex) => String.fromCharCode(hex === undefined ? 10 : parseInt(hex, 16)),
  );
}

/** Lines in which `...` is any text; a line of it alone, any lines. */
function patternOf(lines: readonly string[]): RegExp {
  const patterns = lines.map((line) =>
    line === "..."
      ? "(?:.*\n)*"
      : line.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&")
        .replaceAll("\\.\\.\\.", ".*").replace("VERSION", VERSION) + "\n"
  );
  return RegExp(`^${patterns.join("")}$`);
}

/**
 * Starts the program once, and asserts that all comes true. The lines of a scene, after
 * its name:
 *
 * - `$ NAME=VALUE ARGUMENT ...`; by default key and URL are those of the service;
 * - `< INPUT`, and `< ...` if it stays open;
 * - `T STATUS BODY`: an answer in place of a thread; `* STREAM` of a run, `* ~ STATUS` in
 *   place of a stream, and `* ! STATUS BODY` in place of a run;
 * - `> OUTPUT`, `2> ERRORS` and `? CODE`, if it is not 0;
 * - `@ REQUEST`, or their number, and `% PROMPT`.
 */
export async function playCall(scene: string): Promise<void> {
  const all = scene.split("\n").map((line) => line.split(/ (.*)/s));
  const raw = (sign: string) =>
    all.filter(([it]) => it === sign).map(([, text = ""]) => text);
  const lines = (sign: string) => raw(sign).map(unescape);
  const key = /APP_API_KEY=(\S*)/.exec(scene)?.[1] ?? TEST_KEY;
  const [thread] = raw("T").map(answerOf);
  const runs = raw("*").map(behaviourOf);
  await using service = serve({ runs, thread }, key || TEST_KEY);

  const words = raw("$").join().match(/"[^"]*"|\S+/g) ?? [];
  const args = words.map((word) =>
    unescape(word.replaceAll('"', ""))
      .replace("URL/", `${service.url}/`)
      .replace("NOWHERE", unreachable).replace("/KEY", `/${TEST_KEY}`)
  );
  const isVariable = (word: string) => /^[A-Z_]+=/.test(word);
  const env = {
    ...settings(service),
    ...Object.fromEntries(args.filter(isVariable).map((it) => it.split("="))),
  };
  await using client = new Client({
    args: args.filter((word) => !isVariable(word)),
    env,
  });
  const input = lines("<");
  const isOpen = input.at(-1) === "...";
  const text = input.slice(0, isOpen ? -1 : undefined)
    .map((line) => `${line}\n`).join("");
  const bytes = Uint8Array.from(text, (it) => it.charCodeAt(0));
  const write = client.write(text.includes("\xff") ? bytes : text);
  await write.catch(() => {}); // It may have ended.
  const output = await (isOpen ? client.output() : client.finish());

  assertMatch(output.stdout, patternOf(lines(">")));
  assertMatch(output.stderr, patternOf(lines("2>")));
  const calls = lines("@");
  const made = callsTo(service);
  if (/^\d+$/.test(`${calls}`)) assertEquals(made.length, Number(calls));
  else if (calls.length > 0) assertEquals(made, calls);
  const prompts = lines("%");
  if (prompts.length > 0) assertEquals(promptsOf(service), prompts);
  assertEquals(output.code, Number(lines("?")));
}
