import { assert, assertEquals, assertRejects } from "@std/assert";
import type { Gateway } from "../../lib/gateway.ts";
import { runInteractive, runPrompts } from "../../lib/interactive.ts";
import type { RunEvent } from "../../lib/gateway/run_events.ts";
import type { Input, Terminal } from "../../lib/interactive/terminal.ts";
import { VERSION } from "../../lib/version.ts";

/** A terminal whose user types these lines; then the input ends. */
class ScriptedTerminal implements Terminal {
  /** All events, in order. */
  readonly log: string[] = [];
  readonly #inputs: Input[];
  #onInterrupt: (() => void) | undefined;

  constructor(...inputs: readonly (string | Input)[]) {
    this.#inputs = inputs.map((input) =>
      typeof input === "string" ? { kind: "prompt", text: input } : input
    );
  }

  readPrompt(): Promise<Input> {
    this.log.push("prompt");
    return Promise.resolve(this.#inputs.shift() ?? { kind: "end" });
  }

  begin(onInterrupt: () => void): void {
    this.#onInterrupt = onInterrupt;
  }

  progress({ node, status }: { node: string; status: string }): void {
    this.log.push(`progress ${node}: ${status}`);
  }

  thread(threadId: string): void {
    this.log.push(`thread ${threadId}`);
  }

  wait(): void {}

  run(): void {}

  end(completed: boolean): void {
    this.log.push(completed ? "completed" : "not completed");
    this.#onInterrupt = undefined;
  }

  reply(text: string): Promise<void> {
    this.log.push(`reply ${text}`);
    return Promise.resolve();
  }

  banner(text: string): void {
    this.log.push(`banner ${text}`);
  }

  note(text: string): void {
    this.log.push(`note ${text}`);
  }

  error(text: string): void {
    this.log.push(`error ${text}`);
  }

  interrupt(): boolean {
    this.#onInterrupt?.();
    return true;
  }

  [Symbol.dispose](): void {}
}

/** The options of a test's prompt loop and gateway. */
interface Script {
  /** Whether a person types. The default is `false`. */
  readonly isTyped?: boolean;
  /** The thread to continue, and the prompts of the command line. */
  readonly threadId?: string;
  readonly prompts?: readonly string[];
  readonly createThread?: Gateway["createThread"];
  /** The events of each run, or how it fails. */
  readonly run?: (
    prompt: string,
    signal: AbortSignal | undefined,
  ) => AsyncGenerator<readonly RunEvent[]>;
}

/** Runs the prompt loop, and records the calls of the gateway too. */
async function play(
  terminal: ScriptedTerminal,
  script: Script = {},
): Promise<number> {
  const { run = echo } = script;
  const gateway: Gateway = {
    async createThread(options) {
      terminal.log.push("create thread");
      return await (script.createThread?.(options) ?? "thread-1");
    },
    runTurn(threadId, prompt, options) {
      terminal.log.push(`run ${threadId} ${JSON.stringify(prompt)}`);
      return run(prompt, options?.signal);
    },
  };
  const { isTyped = false, threadId, prompts } = script;
  const options = {
    gateway,
    terminal,
    maskedKey: "test...cdef",
    baseUrl: "https://brain.example",
    threadId,
  };
  return prompts === undefined
    ? await runInteractive({ ...options, isTyped })
    : await runPrompts(prompts, options);
}

async function* echo(prompt: string): AsyncGenerator<readonly RunEvent[]> {
  yield [{ event: "progress", node: "write", status: "started" }];
  yield [{ event: "complete", reply: `You said: ${prompt}` }];
}

// deno-lint-ignore require-yield -- a run that fails before its first event
async function* fail(): AsyncGenerator<readonly RunEvent[]> {
  throw new Error("Cannot start a run: out of order");
}

async function* failOnce(prompt: string): AsyncGenerator<readonly RunEvent[]> {
  yield* prompt === "fail" ? fail() : echo(prompt);
}

/** The events before the first prompt. */
const START = [
  `banner agent-gateway ${VERSION}, agent the-brain, key test...cdef`,
  "banner service https://brain.example",
  "create thread",
  "completed",
  "thread thread-1",
];

Deno.test("runInteractive() shows the masked key, creates a thread, then prompts (interface 1, Interactive mode rules 1)", async () => {
  const terminal = new ScriptedTerminal();
  assertEquals(await play(terminal), 0);
  assertEquals(terminal.log, [...START, "prompt"]);
});

Deno.test("runInteractive() runs each prompt on the one thread (interface 1, Interactive mode rules 4)", async () => {
  const terminal = new ScriptedTerminal("hello", "  again ");
  assertEquals(await play(terminal), 0);
  assertEquals(terminal.log, [
    ...START,
    "prompt",
    'run thread-1 "hello"',
    "progress write: started",
    "completed",
    "reply You said: hello",
    "prompt",
    'run thread-1 "  again "',
    "progress write: started",
    "completed",
    "reply You said:   again ",
    "prompt",
  ]);
});

Deno.test("runInteractive() prompts again after empty input (interface 1, Interactive mode rules 2)", async () => {
  const terminal = new ScriptedTerminal("", "  \t");
  assertEquals(await play(terminal), 0);
  assertEquals(terminal.log, [...START, "prompt", "prompt", "prompt"]);
});

for (const word of ["exit", "quit", "EXIT", "Quit", " eXit "]) {
  Deno.test(`runInteractive() leaves at ${JSON.stringify(word)} with 0, even after a failed run (interface 1, Interactive mode rules 3)`, async () => {
    const terminal = new ScriptedTerminal("fail", word, "not read");
    assertEquals(await play(terminal, { run: fail }), 0);
    assertEquals(terminal.log.filter((l) => l === "prompt").length, 2);
  });
}

Deno.test("runInteractive() runs a prompt that only begins with exit", async () => {
  const terminal = new ScriptedTerminal("exit code?");
  assertEquals(await play(terminal), 0);
  assert(terminal.log.includes("reply You said: exit code?"));
});

Deno.test("runInteractive() shows why a run failed, and prompts again (interface 7)", async () => {
  const terminal = new ScriptedTerminal("fail", "hello");
  await play(terminal, { run: failOnce });
  assertEquals(terminal.log.slice(START.length), [
    "prompt",
    'run thread-1 "fail"',
    "not completed",
    "error Cannot start a run: out of order",
    "prompt",
    'run thread-1 "hello"',
    "progress write: started",
    "completed",
    "reply You said: hello",
    "prompt",
  ]);
});

for (const [isTyped, code] of [[false, 1], [true, 0]] as const) {
  Deno.test(`runInteractive() returns ${code} at the end of input that is ${isTyped ? "typed" : "piped"} if any run failed`, async () => {
    const terminal = new ScriptedTerminal("fail", "hello", "");
    assertEquals(await play(terminal, { run: failOnce, isTyped }), code);
  });
}

Deno.test("runInteractive() returns 1 without a prompt if there is no thread (interface 7)", async () => {
  const terminal = new ScriptedTerminal("hello");
  const code = await play(terminal, {
    createThread: () => Promise.reject(new Error("Cannot create a thread: no")),
  });
  assertEquals(code, 1);
  assertEquals(terminal.log.slice(2), [
    "create thread",
    "not completed",
    "error Cannot create a thread: no",
  ]);
});

Deno.test("runInteractive() returns 130 for Ctrl-C at the prompt", async () => {
  const terminal = new ScriptedTerminal({ kind: "interrupt" }, "not read");
  assertEquals(await play(terminal), 130);
  assertEquals(terminal.log, [...START, "prompt"]);
});

Deno.test("runInteractive() returns 130 for Ctrl-C while the thread is created", async () => {
  const terminal = new ScriptedTerminal("not read");
  const code = await play(terminal, {
    createThread: (options) => {
      terminal.interrupt();
      return Promise.reject(options?.signal?.reason);
    },
  });
  assertEquals(code, 130);
  assertEquals(terminal.log.slice(2), ["create thread", "not completed"]);
});

Deno.test("runInteractive() drops the run at Ctrl-C, and prompts again", async () => {
  const terminal = new ScriptedTerminal("think", "hello");
  let dropped: AbortSignal | undefined;
  const code = await play(terminal, {
    async *run(prompt, signal) {
      if (prompt === "think") {
        terminal.interrupt();
        dropped = signal;
        signal?.throwIfAborted();
      }
      yield* echo(prompt);
    },
  });
  assertEquals(code, 1);
  assertEquals(dropped?.aborted, true);
  assertEquals(terminal.log.slice(START.length), [
    "prompt",
    'run thread-1 "think"',
    "not completed",
    "note Run dropped; it may still go on at the service",
    "prompt",
    'run thread-1 "hello"',
    "progress write: started",
    "completed",
    "reply You said: hello",
    "prompt",
  ]);
});

Deno.test("runInteractive() returns 1 when the input ends after a dropped run", async () => {
  const terminal = new ScriptedTerminal("think");
  const code = await play(terminal, {
    // deno-lint-ignore require-yield -- a run that is dropped before its first event
    async *run(_prompt, signal) {
      terminal.interrupt();
      throw signal?.reason;
    },
  });
  assertEquals(code, 1);
});

Deno.test("runInteractive() shows a reply that came before Ctrl-C", async () => {
  const terminal = new ScriptedTerminal("hello");
  const code = await play(terminal, {
    async *run(prompt, signal) {
      yield* echo(prompt);
      terminal.interrupt();
      signal?.throwIfAborted();
    },
  });
  assertEquals(code, 0);
  assert(terminal.log.includes("reply You said: hello"));
});

Deno.test("runInteractive() skips a line that is too long, and continues", async () => {
  const tooLong = { kind: "too long" } as const;
  const terminal = new ScriptedTerminal(tooLong, "hello", tooLong);
  assertEquals(await play(terminal), 1);
  assertEquals(terminal.log.slice(START.length), [
    "prompt",
    "error Cannot take a prompt of more than 67108864 bytes",
    "prompt",
    'run thread-1 "hello"',
    "progress write: started",
    "completed",
    "reply You said: hello",
    "prompt",
    "error Cannot take a prompt of more than 67108864 bytes",
    "prompt",
  ]);
});

Deno.test("runInteractive() ends when nobody reads the replies", async () => {
  const terminal = new ScriptedTerminal("hello", "not read");
  terminal.reply = () => Promise.reject(new Deno.errors.BrokenPipe());
  await assertRejects(() => play(terminal), Deno.errors.BrokenPipe);
});

Deno.test("runInteractive() continues a thread and creates none", async () => {
  const terminal = new ScriptedTerminal("hello");
  assertEquals(await play(terminal, { threadId: "thread-7" }), 0);
  assertEquals(terminal.log.slice(2, 5), [
    "thread thread-7",
    "prompt",
    'run thread-7 "hello"',
  ]);
});

Deno.test("runPrompts() runs the prompts in order on one thread, exit is one like any other", async () => {
  const terminal = new ScriptedTerminal("not read");
  assertEquals(await play(terminal, { prompts: ["one", "exit"] }), 0);
  assertEquals(terminal.log, [
    ...START,
    'run thread-1 "one"',
    "progress write: started",
    "completed",
    "reply You said: one",
    'run thread-1 "exit"',
    "progress write: started",
    "completed",
    "reply You said: exit",
  ]);
});

Deno.test("runPrompts() ends with 1 at the first run that fails", async () => {
  const terminal = new ScriptedTerminal();
  const prompts = ["one", "fail", "three"];
  assertEquals(await play(terminal, { prompts, run: failOnce }), 1);
  assertEquals(
    terminal.log.filter((line) => line.startsWith("run ")),
    ['run thread-1 "one"', 'run thread-1 "fail"'],
  );
});

Deno.test("runPrompts() returns 1 if there is no thread", async () => {
  const code = await play(new ScriptedTerminal(), {
    prompts: ["hello"],
    createThread: () => Promise.reject(new Error("Cannot create a thread: no")),
  });
  assertEquals(code, 1);
});
