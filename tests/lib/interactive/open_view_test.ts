import { serviceError } from "../../support/service_errors.ts";
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { JsonView } from "../../../lib/interactive/json_view.ts";
import {
  openView,
  type OpenViewOptions,
} from "../../../lib/interactive/open_view.ts";
import type { ViewEvent } from "../../../lib/interactive/view.ts";
import { FakeClock } from "../../support/clocks.ts";

/** A run that fails. */
const EVENTS: readonly ViewEvent[] = [
  { type: "begin" },
  { type: "progress", node: "plan", status: "started" },
  { type: "end", completed: false },
  { type: "error", message: "no" },
  { type: "farewell", threadId: undefined },
];

interface Setting {
  readonly options?: Partial<OpenViewOptions>;
  /** The variables that are set; `TERM` is `xterm` without them. */
  readonly env?: Readonly<Record<string, string>>;
  readonly isTerminal?: boolean;
  readonly size?: { readonly columns: number; readonly rows: number };
}

/** Opens a view for `-p`. Returns its name, and what its terminal shows of a run that fails. */
async function open(
  { options, env = {}, isTerminal = true, size }: Setting,
): Promise<readonly [view: string, written: string]> {
  using _clock = new FakeClock();
  const { consoleSize, env: { get } } = Deno;
  const shown = size ?? { columns: 80, rows: 24 };
  Object.assign(Deno, { consoleSize: () => shown });
  Deno.env.get = (name) => ({ TERM: "xterm", ...env })[name];
  let written = "";
  try {
    const view = await openView({
      ...{ readsPrompts: false, json: false, quiet: false, plain: false },
      ...{ color: "auto", onInterrupt() {}, onQuit() {} },
      streams: {
        stdin: "data",
        stdout: "data",
        stderr: isTerminal ? "terminal" : "data",
      },
      stdout: { write: () => Promise.resolve() },
      stderr: (text) => written += text,
      ...options,
    });
    for (const event of EVENTS) await view.show(event);
    return [view.constructor.name, written];
  } finally {
    Object.assign(Deno, { consoleSize });
    Deno.env.get = get;
  }
}

const VIEWS: Readonly<Record<string, readonly Setting[]>> = {
  ScreenView: [
    {},
    ...["", "0", "false"].map((CI) => ({ env: { CI } })),
    { options: { quiet: true } },
  ],
  LineView: [
    { isTerminal: false },
    ...["1", "true", "yes"].map((CI) => ({ env: { CI } })),
    { env: { TERM: "dumb" } },
    { options: { plain: true } },
  ],
  JsonView: [{ options: { json: true } }],
};
for (const [name, settings] of Object.entries(VIEWS)) {
  for (const setting of settings) {
    Deno.test(`openView() opens a ${name} with ${JSON.stringify(setting)}`, async () => {
      assertEquals((await open(setting))[0], name);
    });
  }
}

const RED = "agent-gateway: \x1b[31merror:\x1b[39m no\n";
const STYLES: readonly (readonly [Setting, isStyled: boolean])[] = [
  [{}, true],
  [{ env: { NO_COLOR: "" } }, true],
  [{ env: { NO_COLOR: "1" } }, false],
  [{ env: { NO_COLOR: "1" }, options: { color: "always" } }, true],
  [{ options: { color: "never" } }, false],
  [{ options: { plain: true } }, false],
  [{ isTerminal: false, env: { TERM: "dumb" } }, false],
  [{ isTerminal: false, options: { color: "always" } }, true],
];
for (const [setting, isStyled] of STYLES) {
  Deno.test(`openView() ${isStyled ? "styles" : "does not style"} errors with ${JSON.stringify(setting)}`, async () => {
    const [, written] = await open(setting);
    const lines = isStyled ? RED : "agent-gateway: error: no\n";
    assertEquals([written.includes(lines), written.includes("\x1b[3")], [
      true,
      isStyled,
    ]);
  });
}

Deno.test("openView() takes signs of ASCII for TERM=linux, whose fonts lack others", async () => {
  for (const [TERM, sign] of [["linux", "x"], ["xterm", "✗"]] as const) {
    const [, written] = await open({ env: { TERM, NO_COLOR: "1" } });
    assertStringIncludes(written, `${sign} plan: started`);
  }
});

Deno.test("openView() takes a terminal that does not tell its size for one of 80 columns and 24 rows", async () => {
  const unknown = await open({ size: { columns: 0, rows: 0 } });
  assertEquals(unknown, await open({}));
});

async function* noInput(): AsyncGenerator<Uint8Array> {}

const LINES: readonly (readonly [event: ViewEvent, line: string])[] = [
  [
    { type: "thread", threadId: "t\x9b" },
    '{"type":"thread","thread_id":"t\\u009b"}\n',
  ],
  [{ type: "run", runId: "r" }, '{"type":"run","run_id":"r"}\n'],
  [
    { type: "progress", node: "plan", status: "done" },
    '{"type":"progress","node":"plan","status":"done"}\n',
  ],
  [
    { type: "reply", text: "a\nb", isNotice: false },
    '{"type":"reply","text":"a\\nb"}\n',
  ],
  [
    {
      type: "error",
      message: "no",
      failure: serviceError("stream run", {
        reason: "",
        status: 502,
        stage: "perhaps taken",
      }),
    },
    '{"type":"error","message":"no","operation":"stream run","status":502,"fate":"may go on"}\n',
  ],
  [{ type: "error", message: "no" }, '{"type":"error","message":"no"}\n'],
  [{ type: "banner", text: "agent-gateway" }, ""],
  [{ type: "begin" }, ""],
  [{ type: "end", completed: false }, ""],
  [{ type: "wait", reason: "busy", milliseconds: 1 }, ""],
  [{ type: "dropped", what: "run", prompts: 0 }, ""],
  [{ type: "ctrl-c", isFirst: true }, ""],
  [{ type: "farewell", threadId: "t" }, ""],
];
Deno.test("JsonView writes a line for each event, or nothing, and no internal field", async () => {
  for (const [event, line] of LINES) {
    let written = "";
    const stdout = {
      write: (bytes: Uint8Array) =>
        Promise.resolve(void (written += new TextDecoder().decode(bytes))),
    };
    const internal = { ...event, internal: true };
    await new JsonView(noInput(), stdout).show(internal);
    assertEquals(written, line);
  }
});

Deno.test("JsonView rejects when the reader is gone", async () => {
  const stdout = { write: () => Promise.reject(new Deno.errors.BrokenPipe()) };
  const view = new JsonView(noInput(), stdout);
  const event = { type: "thread", threadId: "t" } as const;
  await assertRejects(() => view.show(event), Deno.errors.BrokenPipe);
});
