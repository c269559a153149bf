import { assert, assertEquals, assertLess, assertRejects } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { consoleSize } from "../../../lib/interactive/console_size.ts";
import { JsonView } from "../../../lib/interactive/json_view.ts";
import { openView } from "../../../lib/interactive/open_view.ts";
import { PromptLines } from "../../../lib/interactive/stdin_prompts.ts";
import {
  describeTerminal,
  type StreamKinds,
  type Wishes,
} from "../../../lib/interactive/terminal.ts";
import type { ViewEvent } from "../../../lib/interactive/view.ts";
import { FakeClock } from "../../support/clocks.ts";
import { takenAtOnce } from "../../support/terminal_emulator.ts";
import { redacted, serviceId } from "../../support/texts.ts";
import { joinSafe } from "../../../lib/text.ts";

/** A run that fails. */
const EVENTS: readonly ViewEvent[] = [
  { type: "begin" },
  { type: "progress", node: redacted("plan"), status: redacted("started") },
  { type: "end", completed: false },
  { type: "error", message: redacted("no") },
  { type: "farewell", threadId: undefined },
];

interface Setting {
  readonly wishes?: Partial<Wishes>;
  /** The variables that are set; `TERM` is `xterm` without them. */
  readonly env?: Readonly<Record<string, string>>;
  readonly isTerminal?: boolean;
}

/** What the terminal shows of a run of `-p` that fails. */
async function show(
  { wishes, env = {}, isTerminal = true }: Setting,
): Promise<string> {
  using _clock = new FakeClock();
  const { get } = Deno.env;
  Deno.env.get = (name) => ({ TERM: "xterm", ...env })[name];
  let written = "";
  try {
    const streams: StreamKinds = {
      stdin: "data",
      stdout: "data",
      stderr: isTerminal ? "terminal" : "data",
    };
    const terminal = describeTerminal(streams, false, {
      color: "auto",
      plain: false,
      quiet: false,
      ...wishes,
    });
    const view = await openView(terminal, {
      readsPrompts: false,
      json: false,
      stdout: { write: () => Promise.resolve() },
      stderr: takenAtOnce((text) => written += text),
      keys: { onInterrupt() {}, onQuit() {}, onTyping() {}, onQueued() {} },
    });
    for (const event of EVENTS) await view.show(event);
    return written;
  } finally {
    Deno.env.get = get;
  }
}

Deno.test("a run of -p writes the same lines with and without a terminal", async () => {
  const lines = "plan: started\nagent-gateway: error: no\n";
  for (const isTerminal of [true, false]) {
    const written = await show({ isTerminal, wishes: { color: "never" } });
    assertEquals(written, lines);
  }
});

Deno.test("a run of -p with --quiet writes its error, and no escape code", async () => {
  const written = await show({ wishes: { quiet: true, color: "never" } });
  assertEquals(written, "agent-gateway: error: no\n");
});

const RED = "agent-gateway: \x1b[31merror:\x1b[39m no\n";
const STYLES: readonly (readonly [Setting, isStyled: boolean])[] = [
  [{}, true],
  [{ env: { NO_COLOR: "" } }, true],
  [{ env: { NO_COLOR: "1" } }, false],
  [{ env: { NO_COLOR: "1" }, wishes: { color: "always" } }, true],
  [{ wishes: { color: "never" } }, false],
  [{ wishes: { plain: true } }, false],
  [{ isTerminal: false, env: { TERM: "dumb" } }, false],
  [{ isTerminal: false, wishes: { color: "always" } }, true],
];
for (const [setting, isStyled] of STYLES) {
  Deno.test(`a view ${isStyled ? "styles" : "does not style"} errors with ${JSON.stringify(setting)}`, async () => {
    const written = await show(setting);
    const lines = isStyled ? RED : "agent-gateway: error: no\n";
    assertEquals([written.includes(lines), written.includes("\x1b[3")], [
      true,
      isStyled,
    ]);
  });
}

Deno.test("consoleSize() is 80 columns and 24 rows on a terminal that does not tell", () => {
  const { consoleSize: real } = Deno;
  try {
    Object.assign(Deno, { consoleSize: () => ({ columns: 0, rows: 0 }) });
    assertEquals(consoleSize(), { columns: 80, rows: 24 });
  } finally {
    Object.assign(Deno, { consoleSize: real });
  }
});

const NO_PROMPTS = new PromptLines(ReadableStream.from([]), false);

/** Standard output that a test reads. */
class Output {
  readonly writes: string[] = [];
  /** Holds up the writes. */
  reading = Promise.resolve();

  async write(bytes: Uint8Array): Promise<void> {
    this.writes.push(new TextDecoder().decode(bytes));
    await this.reading;
  }
}

const PROGRESS = {
  type: "progress",
  node: redacted("plan"),
  status: redacted("done"),
} as const;

Deno.test("JsonView queues progress, and waits until any other line is written", async () => {
  const output = new Output();
  const reading = Promise.withResolvers<void>();
  output.reading = reading.promise;
  const view = new JsonView(NO_PROMPTS, output);
  for (let i = 0; i < 100; i++) {
    assertEquals(view.show(PROGRESS), undefined);
  }
  let isWritten = false;
  const shown = Promise.resolve(
    view.show({ type: "error", message: redacted("no") }),
  )
    .then(() => isWritten = true);
  await setImmediate();
  assertEquals(isWritten, false);
  reading.resolve();
  await shown;
  assertEquals(output.writes.join("").split("\n").length, 102);
  assertLess(output.writes.length, 5);
});

Deno.test("JsonView waits while more than 1 MiB is queued", async () => {
  const output = new Output();
  const reading = Promise.withResolvers<void>();
  output.reading = reading.promise;
  const view = new JsonView(NO_PROMPTS, output);
  const part = redacted("x".repeat(16 * 1024));
  const large = { ...PROGRESS, status: joinSafe(Array(64).fill(part), " ") };
  const shown = view.show(large);
  assert(shown !== undefined);
  reading.resolve();
  await shown;
  assertEquals(view.show(PROGRESS), undefined);
});

Deno.test("JsonView rejects when the reader is gone", async () => {
  const stdout = { write: () => Promise.reject(new Deno.errors.BrokenPipe()) };
  const view = new JsonView(NO_PROMPTS, stdout);
  await assertRejects(
    async () => await view.show({ type: "thread", threadId: serviceId("t") }),
    Deno.errors.BrokenPipe,
  );

  const other = new JsonView(NO_PROMPTS, stdout);
  other.show(PROGRESS);
  await assertRejects(() => other.failed, Deno.errors.BrokenPipe);
});
