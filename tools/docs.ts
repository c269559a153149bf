/**
 * Writes what the documents repeat of the source: the program's version, and the tables
 * between the marks `<!-- deno task docs: NAME -->` and `<!-- end -->`.
 *
 *     deno task docs
 *
 * `tests/project/documentation_test.ts` names each page that is out of date.
 *
 * @module
 */
import config from "../deno.json" with { type: "json" };
import {
  type Argument,
  type Mode,
  type Option,
  OPTIONS,
  spellings,
  STANDARD_INPUT,
} from "../lib/command_line/option_table.ts";
import {
  MAX_FILE_BYTES,
  MAX_FILES_BYTES,
  READ_TIMEOUT,
} from "../lib/bridge/attached_files.ts";
import {
  DISTANCE,
  DISTANCE_PER_UPDATE,
  MAX_DISTANCE,
} from "../lib/bridge/client_output.ts";
import { FIRST, NEXT } from "../lib/bridge/failed_start.ts";
import { ErrorCode, MAX_MESSAGE_BYTES } from "../lib/bridge/json_rpc.ts";
import { MAX_WAITING, MAX_WAITING_BYTES } from "../lib/bridge/session.ts";
import { MAX_TITLE_LENGTH } from "../lib/bridge/session_title.ts";
import { MAX_ID_LENGTH } from "../lib/bridge/sessions.ts";
import { MAX_ALL_BYTES, MAX_BYTES } from "../lib/bridge/transcripts.ts";
import { EXIT } from "../lib/exit_codes.ts";
import { CONNECT_LIMIT } from "../lib/gateway/connection/relay.ts";
import { AHEAD_LIMIT } from "../lib/gateway/connection/route.ts";
import {
  type Fate,
  fateOf,
  type RemoteOperation,
  stageOfStatus,
} from "../lib/gateway/failure/fate.ts";
import {
  MAX_EMPTY,
  problemOfStatus,
  PROBLEMS,
  SILENCES,
  VANISHED,
} from "../lib/gateway/failure/retry_policy.ts";
import { TIMEOUTS } from "../lib/gateway/timeouts.ts";
import { MAX_LINE_BYTES } from "../lib/gateway/stream/stream_lines.ts";
import { codeOf } from "../lib/interactive/exit_code.ts";
import { MAX_PROMPT_BYTES } from "../lib/io.ts";
import {
  MAX_SHOWN_BYTES,
  MAX_SIGNS,
  SHORT_JSON,
  size,
  wholeDuration,
} from "../lib/text.ts";
import { MAX_KEY_LENGTH } from "../lib/settings.ts";
import { PROMISES } from "./promises.ts";
import { WORKAROUNDS } from "../tests/runtime/workarounds.ts";
import { ToolError } from "./tool_error.ts";

const ROOT = `${import.meta.dirname}/..`;

/** The files that show the version or have a table of the source. */
export const PAGES: readonly string[] = [
  ...["README.md", "SECURITY.md", "CONTRIBUTING.md"],
  ...Array.from(Deno.readDirSync(`${ROOT}/docs`), ({ name }) => `docs/${name}`)
    .filter((name) => name.endsWith(".md"))
    .sort(),
  "docs/registry/agent.json",
];

/** Where a document shows the version of this program, not that of something else. */
const VERSION =
  /(?<=\bagent-gateway[ :@]|"agent-gateway",(?:"title":"[^"]*",)?"version":"|\s--?version |\/v|^ {2}"version": ")\d+\.\d+\.\d+/gim;

/** A table: its rows, the first of which is its head. */
type Table = readonly (readonly string[])[];

const TABLES: Readonly<Record<string, () => Table>> = {
  options: optionTable,
  variables: variableTable,
  statuses: statusTable,
  limits: limitTable,
  bridge: bridgeTable,
  errors: errorTable,
  codes: codeTable,
  retries: retryTable,
  ...promiseTables(),
  workarounds: workaroundTable,
};

/**
 * A page as it should be.
 *
 * @throws {ToolError} If a mark names no table.
 */
export function updated(page: string): string {
  const text = page.replaceAll(VERSION, config.version);
  const marked = /(<!-- deno task docs: (\w+) -->\n)(.*?)(?=<!-- )/gs;
  return text.replace(marked, (_, mark: string, name: string) => {
    const rows = TABLES[name]?.();
    if (rows === undefined) throw new ToolError(`There is no table ${name}`);
    return `${mark}\n${markdownTable(rows)}\n`;
  });
}

/** A table as `deno fmt` formats it. */
function markdownTable(rows: Table): string {
  const [head = []] = rows;
  const widths = head.map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0))
  );
  const line = (cells: readonly string[], filler: string) =>
    `| ${
      widths.map((width, i) => (cells[i] ?? "").padEnd(width, filler))
        .join(" | ")
    } |\n`;
  const [first = "", ...others] = rows.map((row) => line(row, " "));
  return [first, line([], "-"), ...others].join("");
}

function workaroundTable(): Table {
  const versions = (since?: string, goneIn?: string) =>
    goneIn === undefined ? since ?? "" : `before ${goneIn}`;
  const rows = WORKAROUNDS.map((row) => [
    ...[row.what, row.why, row.issue ?? ""],
    ...[versions(row.since, row.goneIn), row.isNeeded ? "yes" : ""],
  ]);
  return [["Workaround", "Without it", "Issue", "Deno", "Tried"], ...rows];
}

function optionTable(): Table {
  const named: readonly Option[] = OPTIONS;
  const rows = named.map((option) => {
    const names = spellings(option).map(code).join(", ");
    const { value } = option;
    const shown = value === undefined
      ? names
      : names.replace(/`$/, ` ${value}\``);
    return rowOf(option, shown);
  });
  return [
    ["Option", "Effect", "With"],
    ...rows,
    rowOf(STANDARD_INPUT, code(STANDARD_INPUT.name)),
  ];
}

/** A row of an argument: the modes that do not take it reject it. */
function rowOf({ modes, isLook, effect }: Argument, label: string) {
  const taken = MODES.filter(([mode]) => modes.includes(mode));
  const isAny = isLook || taken.length === MODES.length;
  return [label, effect, isAny ? "Any" : taken.map(([, it]) => it).join(", ")];
}

const MODES: readonly (readonly [Mode, string])[] = [
  ["prompts", "Prompts"],
  ["check", "`--check`"],
  ["bridge", "`--bridge`"],
];

/** What each variable that the program reads is for. Deno reads those of the last row. */
const VARIABLES: Readonly<Record<string, string>> = {
  APP_API_KEY: `The API key (required): at most ${
    MAX_KEY_LENGTH.toLocaleString("en")
  } characters of printable ASCII`,
  APP_BASE_URL:
    "URL of the service: `https:`, or `http:` on this machine; it may have a path",
  HTTPS_PROXY: "[The proxy](networks.md#proxies) for an `https:` service",
  ALL_PROXY: "The same, if `HTTPS_PROXY` is not set",
  HTTP_PROXY: "Not used; named in hints of errors",
  NO_PROXY: "[Hosts](networks.md#proxies) that are reached without a proxy",
  DENO_CERT: "[More certificate authorities](networks.md#certificates)",
  DENO_TLS_CA_STORE: "[Which authorities to trust](networks.md#certificates)",
  TRACEPARENT: "W3C trace context, sent with each run of `-p` and `-`",
  TRACESTATE: "The same",
  NO_COLOR: "[No colour](terminal.md#settings-of-the-terminal)",
  TERM: "[What the terminal can do](terminal.md#settings-of-the-terminal)",
  CI: "[No editing](terminal.md#settings-of-the-terminal)",
  GITHUB_ACTIONS:
    "[A runner reads standard error](containers.md#github-actions)",
  TF_BUILD: "The same",
};

/** The variables that the binary may read, in any case where both are read. */
function variableTable(): Table {
  const read = new Set(
    config.permissions.client.env.map((name) => name.toUpperCase()),
  );
  const known = Object.keys(VARIABLES);
  const missing = [...read.symmetricDifference(new Set(known))];
  if (missing.length > 0) {
    throw new ToolError(`VARIABLES and deno.json differ in ${missing}`);
  }
  return [
    ["Variable", "Meaning"],
    ...known.map((name) => [code(name), VARIABLES[name] ?? ""]),
  ];
}

/** A table for each section of the promises. */
function promiseTables(): Readonly<Record<string, () => Table>> {
  const tables = Object.entries(PROMISES).map(([section, promises]) => {
    const rows = promises.map(({ number, text }) => [`${number}`, text]);
    return [section, () => [["No.", "Promise"], ...rows]];
  });
  return Object.fromEntries(tables);
}

/** What a status outside 2xx means, by the operation that it answers. */
function statusTable(): Table {
  const operations = ["create thread", "create run", "stream run"] as const;
  return [
    ["Status", "To a thread", "To a run", "To its stream"],
    ...STATUS_ROWS.map(([label, status]) => [
      label,
      ...operations.map((operation) => meaningOf(operation, status)),
    ]),
  ];
}

/** Statuses that differ, and one that stands for all others of its class. */
export const STATUS_ROWS = [
  ["3xx", 302],
  ["401, 403", 401],
  ["404", 404],
  ["408, 425", 408],
  ["410", 410],
  ["429", 429],
  ["499", 499],
  ["Other 4xx", 400],
  ["502, 504", 502],
  ["503", 503],
  ["Other 5xx", 500],
] as const;

/** What a status means for the prompt, in the words of the table. */
export function meaningOf(operation: RemoteOperation, status: number): string {
  const fate = fateOf(operation, stageOfStatus(operation, status), false);
  const reason = problemOfStatus(operation, status);
  return reason === undefined ? code(fate) : `Retried, then ${code(fate)}`;
}

function limitTable(): Table {
  const { answer, idle, resume, retryAfter, drain } = TIMEOUTS;
  return [
    ["What", "Limit"],
    ["A prompt", size(MAX_PROMPT_BYTES)],
    ["A line of the stream", size(MAX_LINE_BYTES)],
    [
      `Brackets, commas and colons outside of strings in a line over ${
        size(SHORT_JSON)
      }`,
      MAX_SIGNS.toLocaleString("en"),
    ],
    [
      "A node, a status or the words of a failure; the rest is cut",
      size(MAX_SHOWN_BYTES),
    ],
    ["Connecting, to all addresses of the name", time(CONNECT_LIMIT)],
    ["A connection that was opened ahead and is not used", time(AHEAD_LIMIT)],
    ["The answer to a `POST`, from the request to its end", time(answer)],
    ["A pause that `Retry-After` asks for", time(retryAfter)],
    ["Silence of a stream, its headers included", time(idle)],
    [
      "The same, if the stream sends comments and can be retried",
      `${SILENCES} times its longest silence, at least ${time(VANISHED)}`,
    ],
    ["Resuming a stream that brings no new event", time(resume)],
    ["The end of the stream after `complete`", time(drain)],
  ];
}

/** The limits of the bridge. */
function bridgeTable(): Table {
  return [
    ["What", "Limit"],
    ["A line of input, a prompt in it included", size(MAX_MESSAGE_BYTES)],
    ["Prompts that wait in a session", `${MAX_WAITING}`],
    ["Their text", size(MAX_WAITING_BYTES)],
    ["The distance of a response from its last update", time(DISTANCE)],
    ["The same, for each update of the prompt", time(DISTANCE_PER_UPDATE)],
    ["The same, at most", time(MAX_DISTANCE)],
    ["The title of a session", `${MAX_TITLE_LENGTH} characters`],
    ["A thread id that becomes the session id", `${MAX_ID_LENGTH} characters`],
    ["A linked file", size(MAX_FILE_BYTES)],
    ["All linked files of a prompt", size(MAX_FILES_BYTES)],
    ["Reading them", time(READ_TIMEOUT)],
    ["The text of a session that is kept for `session/load`", size(MAX_BYTES)],
    [
      "The text of all sessions, least recently used first",
      size(MAX_ALL_BYTES),
    ],
    ["A start that fails: waiting for `initialize`", time(FIRST)],
    ["A start that fails: waiting for the next request", time(NEXT)],
  ];
}

/** When each error of the bridge is sent. */
const ERRORS: Readonly<Record<keyof typeof ErrorCode, string>> = {
  parseError: "The line is not JSON (`id` is `null`)",
  invalidRequest:
    "Not a request, a batch, [a line that cannot be read](#lines-that-cannot-be-read), a session that is opened before `initialize`, [too many prompts](#several-prompts)",
  methodNotFound: "No such method",
  invalidParams:
    "Bad params: an image, audio, a binary file, a prompt without text, no session id, or one that cannot be one",
  resourceNotFound: "No such session, or a chat that is gone",
  internalError: "The service failed, or rejected the key (401, 403)",
  cannotOpenSession: "The same for `session/new`, or the bridge does not start",
};

function errorTable(): Table {
  const rows = Object.entries(ErrorCode).map(([name, code]) => [
    `${code}`,
    ERRORS[name as keyof typeof ErrorCode],
  ]);
  return [["Code", "When"], ...rows];
}

/** What is sent again, after what, and how often. */
function retryTable(): Table {
  const { reconnect, outage, resume, steady } = TIMEOUTS;
  const posts = (["retry", "reopen", "outOfFiles"] as const).map((name) => {
    const pauses = TIMEOUTS[name];
    const problems = Object.entries(PROBLEMS).filter(([, problem]) =>
      "pauses" in problem && problem.pauses === name
    );
    return [
      "A thread, a run",
      problems.map(([problem]) => withStatuses(problem)).join(", "),
      `${pauses.length} times, after about ${inSeconds(pauses)}`,
    ];
  });
  return [
    ["Requested again", "After", "How often"],
    ...posts,
    [
      "The stream of a run",
      `${
        retriedStatuses("stream run")
      }; a connection that fails, ends too early or falls silent`,
      `After about ${inSeconds(reconnect)}, until there was no answer for ${
        time(outage)
      }, no new event for ${
        time(resume)
      }, or ${MAX_EMPTY} streams in a row ended within ${
        time(steady)
      } with nothing new`,
    ],
  ];
}

/** A problem of a `POST`, with the statuses that tell it. */
function withStatuses(problem: string): string {
  if (problem !== "service busy") return problem;
  const threads = retriedStatuses("create thread");
  return `${problem} (${threads}; a run: ${retriedStatuses("create run")})`;
}

function retriedStatuses(operation: RemoteOperation): string {
  const statuses = Array.from({ length: 300 }, (_, index) => 300 + index);
  return statuses.filter((it) => problemOfStatus(operation, it)).join(", ");
}

function inSeconds(pauses: readonly number[]): string {
  const shown = pauses.filter((pause, i) => pause !== pauses[i - 1])
    .map((pause) => pause / 1000);
  return `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)} s`;
}

const MAY_RUN_TWICE = "No: it may run twice";

/** How a call ends: an exit code, or what became of a prompt that failed. */
const ENDS: readonly (readonly [
  end: number | Fate,
  what: string,
  runAgain?: string,
  status?: number,
])[] = [
  [EXIT.done, "Done"],
  ["not run", "Nothing of the call was started", "Yes, later"],
  [
    "refused",
    "The key was rejected (401, 403); nothing was started",
    ...["With another key", 401] as const,
  ],
  ["may have run", "Perhaps a run was started", MAY_RUN_TWICE],
  [
    "may go on",
    "A run was started, and could not be followed to its end",
    MAY_RUN_TWICE,
  ],
  ["failed", "The service says that the run failed, or is gone", "No"],
  ["refused", "It would fail again; this prompt did not run", "No"],
  [EXIT.failed, "A setting is wrong, or standard input or output failed", "No"],
  [EXIT.usage, "Wrong usage: one line names the argument", "No"],
  [EXIT.hangup, "The terminal is gone (SIGHUP)"],
  [EXIT.interrupted, "Ctrl-C (SIGINT)"],
  [EXIT.quit, "Ctrl-\\\\ (SIGQUIT)"],
  [EXIT.debugRefused, "SIGUSR1, which would open a debugger"],
  [EXIT.terminated, "SIGTERM"],
];

function codeTable(): Table {
  const rows = ENDS.map(([end, what, runAgain = "", status]) =>
    typeof end === "number"
      ? [`${end}`, "", what, runAgain]
      : [`${codeOf({ fate: end, status })}`, code(end), what, runAgain]
  );
  return [["Code", "`fate`", "What happened", "Run it again?"], ...rows];
}

/** A limit in the words of the program: "100 ms", "30 s", "10 min". */
function time(milliseconds: number): string {
  return milliseconds < 1000
    ? `${milliseconds} ms`
    : wholeDuration(milliseconds);
}

function code(text: string): string {
  return `\`${text}\``;
}

if (import.meta.main) {
  for (const page of PAGES) {
    const path = `${ROOT}/${page}`;
    const text = Deno.readTextFileSync(path);
    const now = updated(text);
    if (now === text) continue;
    Deno.writeTextFileSync(path, now);
    console.log(page);
  }
}
