import {
  AGENT_NAME,
  type CreationEvent,
  type Gateway,
  ServiceError,
  type TurnEvent,
} from "./gateway.ts";
import { CtrlC } from "./interactive/ctrl_c.ts";
import { ExitCode } from "./interactive/exit_code.ts";
import { Deadline, GRACE, within } from "./io.ts";
import type { Input, View, ViewEvent } from "./interactive/view.ts";
import { VERSION } from "./version.ts";

export type { View } from "./interactive/view.ts";
export { openView } from "./interactive/open_view.ts";
export { addInput } from "./interactive/stdin_prompts.ts";

export interface ConversationOptions {
  readonly gateway: Gateway;
  readonly view: View;
  readonly maskedKey: string;
  readonly baseUrl: string;
  /** The thread to continue. By default a new one is created. */
  readonly threadId?: string | undefined;
  /** How long one prompt may take, in milliseconds. By default there is no limit. */
  readonly timeLimit?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** A clock, in milliseconds. The default is the clock of the process. */
  readonly now?: (() => number) | undefined;
}

/** The exit code after Ctrl-C. */
const INTERRUPTED = 130;

/** How an operation ended; `unread` if nobody reads standard output. */
type Ending = "done" | "failed" | "dropped" | "unread";

/**
 * Prompts that run on one thread, one at a time. It holds the state of the thread
 * and of the operation that is going on, and decides what Ctrl-C does; a
 * {@linkcode View} shows what happens.
 */
export class Conversation {
  readonly #options: ConversationOptions;
  readonly #ctrlC: CtrlC;
  /** Resolved when the user leaves with Ctrl-C. */
  readonly #left = Promise.withResolvers<undefined>();
  readonly #now: () => number;
  /** Aborted when the user drops the operation that is going on. */
  #operation: AbortController | undefined;
  #begunAt = 0;
  /** Whether that operation is a run that the service has started. */
  #isRun = false;
  #hasEnded = false;
  #droppedPrompts = 0;
  #isAsking = false;
  #threadId = "";
  readonly #exitCode = new ExitCode();
  /** The number of prompts that were run, and that the call is known to have. */
  #prompts = 0;
  #knownPrompts = 1;
  #hasRun = false;
  /** Resolved or rejected when the reply that is being written is written. */
  #writing: Promise<void> | undefined;
  #isLeft = false;

  constructor(options: ConversationOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#ctrlC = new CtrlC(this.#now);
  }

  /**
   * Runs each prompt of the view until its input ends (interface 1, "Interactive
   * mode rules").
   *
   * @returns The exit code: 0 after `exit` and `quit`, and where a person types, who has
   * seen what failed.
   * @throws {InputError} If standard input cannot be read.
   * @throws Whatever standard output rejects with: see `isReaderGone()`.
   */
  async runInteractive(): Promise<number> {
    const isTyped = this.#options.view.typing !== undefined;
    const opened = await this.#within((limit) => this.#open(limit));
    if (opened === "dropped") return INTERRUPTED;
    if (opened !== "done") return isTyped ? 1 : this.#exitCode.value;
    for (;;) {
      const input = await this.#ask();
      switch (input?.kind) {
        case undefined:
          return INTERRUPTED;
        case "end":
          return isTyped ? 0 : this.#exitCode.value;
        case "refused":
          this.#exitCode.fail();
          await this.#show({ type: "error", message: input.reason });
          break;
        case "text": {
          const word = input.text.trim().toLowerCase();
          if (word === "exit" || word === "quit") return 0;
          if (word === "") continue;
          const { text } = input;
          const ended = await this.#within((limit) => this.#run(text, limit));
          if (ended === "unread") return this.#exitCode.value;
          break;
        }
        default:
          input satisfies never;
      }
    }
  }

  /**
   * Runs prompts in order, until one fails. The time limit of the first one holds for
   * the creation of the thread, too. Rejects as standard output does.
   *
   * @returns The exit code.
   */
  async runPrompts(prompts: readonly string[]): Promise<number> {
    const [first = "", ...others] = prompts;
    this.#knownPrompts = prompts.length;
    let ended = await this.#within(async (limit) => {
      const opened = await this.#open(limit);
      return opened === "done" ? await this.#run(first, limit) : opened;
    });
    for (const prompt of others) {
      if (ended !== "done") break;
      ended = await this.#within((limit) => this.#run(prompt, limit));
    }
    return this.#exitCode.value;
  }

  /** Handles a Ctrl-C. Returns whether the program goes on; if not, the caller ends it. */
  interrupt(): boolean {
    const { view, view: { typing } } = this.#options;
    if (typing === undefined) return false;
    const isRunning = this.#operation?.signal.aborted === false;
    const clear = () => this.#isAsking && typing.clear?.() === true;
    const effect = this.#ctrlC.press(isRunning, clear);
    switch (effect) {
      case "drop":
        this.#droppedPrompts = typing.dropWaiting();
        this.#operation?.abort();
        return true;
      case "clear":
        return true;
      case "leave":
        this.#left.resolve(undefined);
        return this.#isAsking;
      case "announce":
      case "nothing":
        view.show({ type: "ctrl-c", isFirst: effect === "announce" });
        return true;
      default:
        return effect satisfies never;
    }
  }

  /**
   * Stops the reply that is being written, and ends the view. No prompt is run any
   * more, and nothing is shown after this.
   *
   * @param limit The longest wait for the reply, in milliseconds. If nobody reads
   * on, there is no farewell: the rest of the reply could come after it.
   */
  async leave(limit = 0): Promise<void> {
    if (this.#isLeft) return;
    this.#isLeft = true;
    const { view } = this.#options;
    let isWritten = true;
    if (this.#writing !== undefined) {
      this.#operation?.abort();
      const settled = this.#writing.then(() => true, () => true);
      isWritten = await within(limit, settled, () => false);
    }
    const isGoingOn = this.#operation !== undefined && !this.#hasEnded;
    if (isGoingOn) view.show(this.#ending(false));
    const hasFarewell = isWritten && this.#hasRun && view.typing !== undefined;
    const threadId = hasFarewell ? this.#threadId : undefined;
    view.show({ type: "farewell", threadId });
  }

  /** Shows the banner, and creates a thread unless there is one to continue. */
  async #open(limit: AbortSignal | undefined): Promise<Ending> {
    const { gateway, maskedKey, baseUrl, threadId } = this.#options;
    const banner = [
      `agent-gateway ${VERSION}, agent ${AGENT_NAME}, key ${maskedKey}`,
      `service ${baseUrl}`,
    ];
    for (const text of banner) await this.#show({ type: "banner", text });
    if (threadId !== undefined) {
      this.#threadId = threadId;
      await this.#show({ type: "thread", threadId });
      return "done";
    }
    return await this.#follow(
      "thread",
      limit,
      (signal) => gateway.createThread({ signal }),
    );
  }

  /** Runs one or two operations within the time limit, if there is one. */
  async #within(
    act: (limit: AbortSignal | undefined) => Promise<Ending>,
  ): Promise<Ending> {
    const { timeLimit } = this.#options;
    if (timeLimit === undefined) return await act(undefined);
    using deadline = new Deadline(timeLimit);
    const acting = act(deadline.signal);
    return await within(timeLimit + GRACE, acting, () => this.#giveUp());
  }

  /** Ends an operation of which nobody reads what it shows. */
  #giveUp(): Ending {
    const isComplete = this.#writing !== undefined;
    if (isComplete) this.#exitCode.complete();
    const fate = this.#isRun ? "may go on" : "not run";
    this.#exitCode.fail(isComplete ? undefined : { fate });
    const message =
      "The time limit has passed, and nothing reads standard output: the rest was dropped";
    this.#options.view.show({ type: "error", message });
    return "unread";
  }

  /** Returns the next prompt; `undefined` if the user left with Ctrl-C instead. */
  async #ask(): Promise<Input | undefined> {
    if (this.#isLeft) await NEVER;
    this.#isAsking = true;
    const input = this.#options.view.readPrompt();
    try {
      return await Promise.race([input, this.#left.promise]);
    } finally {
      this.#isAsking = false;
    }
  }

  async #run(
    prompt: string,
    limit: AbortSignal | undefined,
  ): Promise<Ending> {
    const { gateway, headers } = this.#options;
    this.#prompts++;
    const ended = await this.#follow("run", limit, (signal) => {
      const options = { signal, headers };
      return gateway.runTurn(this.#threadId, prompt, options);
    });
    if (ended === "done") this.#exitCode.complete();
    return ended;
  }

  /** Shows the events of an operation that the user can drop, or why it failed. */
  async #follow(
    what: "thread" | "run",
    limit: AbortSignal | undefined,
    act: (
      signal: AbortSignal,
    ) => AsyncIterable<CreationEvent | TurnEvent>,
  ): Promise<Ending> {
    const { signal } = this.#operation = new AbortController();
    const both = limit ? AbortSignal.any([signal, limit]) : signal;
    this.#begunAt = this.#now();
    this.#hasEnded = this.#isRun = false;
    let last: (CreationEvent | TurnEvent)["type"] | undefined;
    try {
      await this.#show({ type: "begin" });
      for await (const event of act(both)) {
        if (this.#isLast(event)) await this.#end(true);
        const shown = this.#show(event, signal);
        if (event.type === "reply") this.#writing = shown ?? undefined;
        if (shown !== undefined) await shown;
        last = event.type;
      }
      this.#writing = undefined;
      if (last === "reply") {
        this.#ctrlC.settle();
        if (signal.aborted) {
          const prompts = this.#droppedPrompts;
          await this.#show({ type: "dropped", what: "reply", prompts });
        }
      }
    } catch (error) {
      if (signal.aborted && error === signal.reason) {
        await this.#end(false);
        const prompts = this.#droppedPrompts;
        this.#exitCode.fail();
        await this.#show({ type: "dropped", what, prompts });
        return "dropped";
      }
      if (!(error instanceof ServiceError)) throw error;
      const failure = error;
      this.#exitCode.fail(failure);
      await this.#end(false);
      const message = this.#placeOf(what, error) + error.message;
      await this.#show({ type: "error", message, failure });
      return "failed";
    } finally {
      this.#operation = undefined;
    }
    return "done";
  }

  /** Which prompt of a script has failed, if there are several, and its thread. */
  #placeOf(what: "thread" | "run", { message }: ServiceError): string {
    const isOne = Math.max(this.#prompts, this.#knownPrompts) === 1;
    const isTyped = this.#options.view.typing !== undefined;
    if (isTyped || what === "thread" || isOne) return "";
    const thread = message.includes(this.#threadId)
      ? ""
      : ` on thread ${this.#threadId}`;
    return `Prompt ${this.#prompts}${thread}: `;
  }

  /** Keeps the thread's id, and that it has a run. Returns whether its operation ends. */
  #isLast(event: CreationEvent | TurnEvent): boolean {
    switch (event.type) {
      case "wait":
      case "progress":
        return false;
      case "run":
        this.#hasRun = this.#isRun = true;
        return false;
      case "thread":
        this.#threadId = event.threadId;
        return true;
      case "reply":
        return true;
      default:
        return event satisfies never;
    }
  }

  async #end(completed: boolean): Promise<void> {
    this.#hasEnded = true;
    await this.#show(this.#ending(completed));
  }

  #ending(completed: boolean): ViewEvent {
    const total = this.#isRun ? this.#now() - this.#begunAt : undefined;
    return { type: "end", completed, total };
  }

  /** Shows an event, unless the conversation was left. */
  #show(event: ViewEvent, signal?: AbortSignal): void | Promise<void> {
    return this.#isLeft ? NEVER : this.#options.view.show(event, signal);
  }
}

/** Awaited instead of going on after the conversation was left: the process ends soon. */
const NEVER = new Promise<never>(() => {});
