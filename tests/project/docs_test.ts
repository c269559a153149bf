import { assert, assertEquals } from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import type { CreationEvent, TurnEvent } from "../../lib/gateway.ts";
import { meaningOf, PAGES, STATUS_ROWS, updated } from "../../tools/docs.ts";

const OPERATIONS = ["create thread", "create run", "stream run"] as const;

const ROOT = `${import.meta.dirname}/../..`;

function read(page: string): string {
  return Deno.readTextFileSync(`${ROOT}/${page}`);
}

for (const page of PAGES) {
  Deno.test(`${page} says what the source says (if not, run deno task docs)`, () => {
    const text = read(page);
    assert(updated(text) === text, `${page} is out of date: deno task docs`);
  });
}

Deno.test("deno task docs finds every place that shows the version", () => {
  const { version } = config;
  for (const page of PAGES) {
    const text = read(page);
    const isComplete =
      updated(text.replaceAll(version, "0.0.0")) === updated(text);
    assert(isComplete, `${page} shows ${version} somewhere else`);
  }
});

Deno.test("the table of statuses has a row for each status that differs from its class", () => {
  const rowOf = (status: number) =>
    STATUS_ROWS.find(([label]) => label.includes(`${status}`)) ??
      STATUS_ROWS.find(([label]) => label.includes(`${status}`[0] + "xx"));
  for (let status = 300; status < 600; status++) {
    const [label, shown = 0] = rowOf(status) ?? [];
    for (const operation of OPERATIONS) {
      const says = `${status} ${operation}: ${meaningOf(operation, status)}`;
      const row = `${status} ${operation}: ${meaningOf(operation, shown)}`;
      assertEquals(says, row, `the row ${label} of tools/docs.ts`);
    }
  }
});

/** Numbers that no constant has: what was measured, and what other programs do. */
const OTHER_NUMBERS: Readonly<Record<string, readonly string[]>> = {
  "CONTRIBUTING.md": ["72 characters", "ten times"],
  "SECURITY.md": ["four characters", "0.1 s", "350 MiB", "500 MiB", "50 ms"],
  "docs/bridge.md": ["64 KiB", "10 MiB"],
  "docs/containers.md": ["15 MB", "5 KB", "128 MiB"],
  "docs/install.md": ["70 GB"],
  "docs/performance.md": [
    ...["three times", "55 MiB", "0.7 MiB", "0.12 ms", "64 KiB", "2 MiB"],
  ],
  "docs/service.md": ["15 s", "60 s", "60 s", "360 s", "30 s"],
};

const NUMBER =
  /(?:\b[\d.,]+|\b(?:two|three|four|five|ten)) ?(?:ms|s|min|minutes?|seconds?|times|[KM]i?B|GB|characters)\b|\b(?:exit code|exits? with|ends? with) \d+/g;

for (
  const page of new Set(["CONTRIBUTING.md", "CHANGELOG.md", ...PAGES])
) {
  Deno.test(`${page} has no number of the program but in a table of tools/docs.ts`, () => {
    const prose = read(page)
      .replaceAll(/^ *```.*?^ *```$/gms, "")
      .replaceAll(
        /<!-- (?:deno task docs|The table of a run).*?<!-- (?:end|It ends) -->/gs,
        "",
      )
      .replaceAll(/\]\(.*?\)|`[^`]*`/g, "...");
    assertEquals(prose.match(NUMBER) ?? [], OTHER_NUMBERS[page] ?? []);
  });
}

type EventType = (CreationEvent | TurnEvent)["type"];

/** Where each event is published. A new one is missing here: the compiler says so. */
const DOCUMENTED: Readonly<
  Record<EventType, Readonly<Record<string, string>>>
> = {
  wait: { "docs/bridge.md": "notice" },
  thread: {
    "docs/events.schema.json": '"const": "thread"',
    "docs/command-line.md": '{"type":"thread"',
    "docs/service.openapi.yaml": "thread_id",
  },
  run: {
    "docs/events.schema.json": '"const": "run"',
    "docs/command-line.md": '{"type":"run"',
    "docs/service.openapi.yaml": "run_id",
  },
  progress: {
    "docs/events.schema.json": '"const": "progress"',
    "docs/command-line.md": '{"type":"progress"',
    "docs/service.openapi.yaml": "progress",
    "docs/service.md": '{"event":"progress"',
    "docs/bridge.md": "agent_thought_chunk",
  },
  reply: {
    "docs/events.schema.json": '"const": "reply"',
    "docs/command-line.md": '{"type":"reply"',
    "docs/service.openapi.yaml": "complete",
    "docs/service.md": '{"event":"complete"',
    "docs/bridge.md": "agent_message_chunk",
  },
};

for (const [event, pages] of Object.entries(DOCUMENTED)) {
  Deno.test(`the event ${event} is in ${Object.keys(pages).join(", ")}`, () => {
    const missing = Object.entries(pages)
      .filter(([page, text]) => !read(page).includes(text));
    assertEquals(missing, []);
  });
}
