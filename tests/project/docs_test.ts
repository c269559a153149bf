import { assert, assertEquals } from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import type { CreationEvent, TurnEvent } from "../../lib/gateway.ts";
import { PAGES, updated } from "../../tools/docs.ts";

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
    const old = text.replaceAll(version, "0.0.0");
    assert(updated(old) === text, `${page} shows ${version} somewhere else`);
  }
});

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
