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

/**
 * A page as it should be.
 *
 * @throws {ToolError} If a mark names no table.
 */
export function updated(page: string): string {
  const text = page.replaceAll(VERSION, config.version);
  const marked = /(<!-- deno task docs: (\w+) -->\n)(.*?)(?=<!-- )/gs;
  return text.replace(marked, (_, mark: string, name: string) => {
    const table = TABLES[name];
    if (table === undefined) throw new ToolError(`There is no table ${name}`);
    return `${mark}\n${markdownTable(table)}\n`;
  });
}

/** A table: its rows, the first of which is its head. */
type Table = readonly (readonly string[])[];

/** A table that is written as a text. */
function rowsOf(text: string): Table {
  return text.trim().split("\n").map((line) => line.split(/ *\| */));
}

/** A table as `deno fmt` formats it. */
function markdownTable([head = [], ...rows]: Table): string {
  const rule = head.map(() => "");
  const widths = head.map((cell, column) =>
    Math.max(...[cell, ...rows.map((row) => row[column] ?? "")].map(lengthOf))
  );
  return [head, rule, ...rows].map((row) => {
    const cells = widths.map((width, column) =>
      (row[column] ?? "").padEnd(width, row === rule ? "-" : " ")
    );
    return `| ${cells.join(" | ")} |\n`;
  }).join("");
}

function lengthOf({ length }: string): number {
  return length;
}

/** What each variable that the program reads is for. Deno reads those of the last row. */
const VARIABLES: Readonly<Record<string, string>> = {
  APP_API_KEY: `The API key (required): at most ${
    MAX_KEY_LENGTH.toLocaleString("en")
  } characters of printable ASCII`,
  APP_BASE_URL:
    "URL of the service: `https:`, or `http:` on this machine; it may have a path",
  HTTPS_PROXY: "[The proxy](networks.md#proxies) for an `https:` service",
  ALL_PROXY: "The same, if `HTTPS_PROXY` is not set",
  HTTP_PROXY: "Not used",
  NO_PROXY: "[Hosts](networks.md#proxies) that are reached without a proxy",
  DENO_CERT: "[Additional CAs](networks.md#certificates)",
  DENO_TLS_CA_STORE: "[Which CAs to trust](networks.md#certificates)",
  TRACEPARENT: "W3C trace context, sent with each run of `-p` and `-`",
  TRACESTATE: "The same",
  NO_COLOR: "[No colour](terminal.md#settings-of-the-terminal)",
  TERM: "[What the terminal can do](terminal.md#settings-of-the-terminal)",
  CI: "[No editing](terminal.md#settings-of-the-terminal)",
  GITHUB_ACTIONS:
    "[A runner reads standard error](containers.md#github-actions)",
  TF_BUILD: "The same",
};

function variableRows(): Table {
  // They are read in any case where both are read.
  const read = config.permissions.client.env.map((it) => it.toUpperCase());
  const known = new Set(Object.keys(VARIABLES));
  const missing = [...known.symmetricDifference(new Set(read))];
  if (missing.length === 0) {
    return Object.entries(VARIABLES).map(([name, it]) => [code(name), it]);
  }
  throw new ToolError(`VARIABLES and deno.json differ in ${missing}`);
}

/** What each argument does, and the modes that take it; the others reject it. */
function optionRows(): Table {
  const options: readonly Option[] = [...OPTIONS, STANDARD_INPUT];
  return options.map((option) => {
    const { name, value, effect } = option;
    const names = option === STANDARD_INPUT ? [name] : spellings(option);
    const last = [names.at(-1), value].filter((part) => part).join(" ");
    const modes = MODES.filter(([mode]) => option.modes.includes(mode));
    return [
      [...names.slice(0, -1), last].map(code).join(", "),
      effect,
      modes.length === MODES.length
        ? "Any"
        : modes.map(([, label]) => label).join(", "),
    ];
  });
}

const MODES: readonly (readonly [Mode, string])[] = [
  ["prompts", "Prompts"],
  ["check", "`--check`"],
  ["bridge", "`--bridge`"],
];

/** What each status outside 2xx means, by the operation that it answers. */
function statusRows(): Table {
  return [3, 4, 5].flatMap((digit) => {
    const statuses = Array.from({ length: 100 }, (_, i) => digit * 100 + i);
    const groups = Map.groupBy(statuses, (status) =>
      // 401 and 403 have an exit code of their own.
      [codeOf({ fate: "refused", status }), ...meaningsOf(status)].join());
    const rest = groups.size === 1 ? `${digit}xx` : `Other ${digit}xx`;
    const rows = Array.from(groups.values(), (group) => [
      group.length > 50 ? rest : group.join(", "),
      ...meaningsOf(group[0] ?? 0),
    ]);
    return rows.sort(([one], [other]) =>
      Number(one === rest) - Number(other === rest)
    );
  });
}

/** What becomes of a prompt after a status, in the words of the exit codes. */
function meaningsOf(status: number): readonly string[] {
  const operations = ["create thread", "create run", "stream run"] as const;
  return operations.map((operation) => {
    const stage = stageOfStatus(operation, status);
    const fate = code(fateOf(operation, stage, false));
    const isRetried = problemOfStatus(operation, status) !== undefined;
    return isRetried ? `Retried, then ${fate}` : fate;
  });
}

/** How a thread or a run is requested again. */
function retryRows(): Table {
  const { retry, reopen, outOfFiles } = TIMEOUTS;
  return Object.entries({ retry, reopen, outOfFiles }).map(([name, pauses]) => {
    const problems = Object.entries(PROBLEMS).filter(([, problem]) =>
      "pauses" in problem && problem.pauses === name
    );
    return [
      "A thread, a run",
      problems.map(([problem]) => problem).join(", "),
      `${pauses.length} times, after about ${inSeconds(pauses)}`,
    ];
  });
}

function inSeconds(pauses: readonly number[]): string {
  const shown = Array.from(new Set(pauses), (pause) => pause / 1000);
  return `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)} s`;
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

/** How a prompt that failed ends the program. */
function failed(fate: Fate, status?: number): string {
  return `${codeOf({ fate, status })} | ${code(fate)}`;
}

const TABLES: Readonly<Record<string, Table>> = {
  options: [["Option", "Effect", "With"], ...optionRows()],
  variables: [["Variable", "Meaning"], ...variableRows()],
  statuses: [
    ["Status", "To a thread", "To a run", "To its stream"],
    ...statusRows(),
  ],
  limits: rowsOf(`
What | Limit
A prompt | ${size(MAX_PROMPT_BYTES)}
A line of the stream | ${size(MAX_LINE_BYTES)}
Brackets, commas and colons outside of strings in a line over ${
    size(SHORT_JSON)
  } | ${MAX_SIGNS.toLocaleString("en")}
A node, a status or the words of a failure; the rest is cut | ${
    size(MAX_SHOWN_BYTES)
  }
Connecting, to all addresses of the name | ${time(CONNECT_LIMIT)}
A connection that was opened ahead and is not used | ${time(AHEAD_LIMIT)}
The answer to a \`POST\`, from the request to its end | ${time(TIMEOUTS.answer)}
A pause that \`Retry-After\` asks for | ${time(TIMEOUTS.retryAfter)}
Silence of a stream, its headers included | ${time(TIMEOUTS.idle)}
The same, if the stream sends comments and can be retried | ${SILENCES} times its longest silence, at least ${
    time(VANISHED)
  }
Resuming a stream that brings no new event | ${time(TIMEOUTS.resume)}
The end of the stream after \`complete\` | ${time(TIMEOUTS.drain)}
`),
  bridge: rowsOf(`
What | Limit
A line of input, a prompt in it included | ${size(MAX_MESSAGE_BYTES)}
Prompts that wait in a session | ${MAX_WAITING}
Their text | ${size(MAX_WAITING_BYTES)}
The distance of a response from its last update | ${time(DISTANCE)}
The same, for each update of the prompt | ${time(DISTANCE_PER_UPDATE)}
The same, at most | ${time(MAX_DISTANCE)}
The title of a session | ${MAX_TITLE_LENGTH} characters
A thread id that becomes the session id | ${MAX_ID_LENGTH} characters
A linked file | ${size(MAX_FILE_BYTES)}
All linked files of a prompt | ${size(MAX_FILES_BYTES)}
Reading them | ${time(READ_TIMEOUT)}
The text of a session that is kept for \`session/load\` | ${size(MAX_BYTES)}
The text of all sessions, least recently used first | ${size(MAX_ALL_BYTES)}
A start that fails: waiting for \`initialize\` | ${time(FIRST)}
A start that fails: waiting for the next request | ${time(NEXT)}
`),
  errors: [
    ["Code", "When"],
    ...Object.entries(ErrorCode).map(([name, code]) => [
      `${code}`,
      ERRORS[name as keyof typeof ErrorCode],
    ]),
  ],
  codes: rowsOf(`
Code | \`fate\` | What happened | Run it again?
${EXIT.done} | | Done
${failed("not run")} | Nothing of the call was started | Yes, later
${
    failed("refused", 401)
  } | The key was rejected (401, 403); nothing was started | With another key
${failed("may have run")} | Perhaps a run was started | No: it may run twice
${
    failed("may go on")
  } | A run was started, and could not be followed to its end | No: it may run twice
${failed("failed")} | The service says that the run failed, or is gone | No
${failed("refused")} | It would fail again; this prompt did not run | No
${EXIT.failed} | | A setting is wrong, or standard input or output failed | No
${EXIT.usage} | | Wrong usage: one line names the argument | No
${EXIT.hangup} | | The terminal is gone (SIGHUP)
${EXIT.interrupted} | | Ctrl-C (SIGINT)
${EXIT.quit} | | Ctrl-\\\\ (SIGQUIT)
${EXIT.debugRefused} | | SIGUSR1, which would open a debugger
${EXIT.terminated} | | SIGTERM
`),
  retries: [
    ["Requested again", "After", "How often"],
    ...retryRows(),
    [
      "The stream of a run",
      "The same, and a connection that ends too early or falls silent",
      `After about ${
        inSeconds(TIMEOUTS.reconnect)
      }, until there was no answer for ${
        time(TIMEOUTS.outage)
      }, no new event for ${
        time(TIMEOUTS.resume)
      }, or ${MAX_EMPTY} streams in a row ended within ${
        time(TIMEOUTS.steady)
      } with nothing new`,
    ],
  ],
  ...Object.fromEntries(
    Object.entries(PROMISES).map(([section, promises]) => [
      section,
      [
        ["No.", "Promise"],
        ...promises.map(({ number, text }) => [`${number}`, text]),
      ],
    ]),
  ),
  workarounds: [
    ["Workaround", "Without it", "Issue", "Deno", "Tried"],
    ...WORKAROUNDS.map((row) => [
      ...[row.what, row.why, row.issue ?? ""],
      row.goneIn === undefined ? row.since ?? "" : `before ${row.goneIn}`,
      row.isNeeded ? "yes" : "",
    ]),
  ],
};

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
