/**
 * Interactive mode: a prompt loop on one thread.
 *
 * @module
 */

import {
  AGENT_NAME,
  type CreationEvent,
  type Gateway,
  ServiceError,
  type TurnEvent,
} from "./gateway.ts";
import { CtrlC } from "./interactive/ctrl_c.ts";
import type { Input, View, ViewEvent } from "./interactive/view.ts";
import { VERSION } from "./version.ts";

export type { View } from "./interactive/view.ts";
export { openView } from "./interactive/open_view.ts";
export { addInput } from "./interactive/prompt_input.ts";

export interface ConversationOptions {
  readonly gateway: Gateway;
  readonly view: View;
  /** The masked API key. */
  readonly maskedKey: string;
  /** The service's base URL. */
  readonly baseUrl: string;
  /** The thread to continue. By default a new one is created. */
  readonly threadId?: string | undefined;
  /** How long one prompt may take, in milliseconds. By default there is no limit. */
  readonly timeLimit?: number | undefined;
  /** A clock, in milliseconds. The default is the clock of the process. */
  readonly now?: (() => number) | undefined;
}

/**
 * How the prompts ended: all runs completed; a run failed; no thread could be
 * created; or Ctrl-C left.
 */
export type Ending = "done" | "failed" | "not started" | "interrupted";

/**
 * Prompts that run on one thread, one at a time. It holds the state of the thread
 * and of the operation that is going on, and decides what Ctrl-C does; a
 * {@linkcode View} shows what happens.
 *
 * Disposing of it ends the view.
 */
export class Conversation implements Disposable {
  readonly #options: ConversationOptions;
  readonly #ctrlC: CtrlC;
  /** Resolved when Ctrl-C leaves. */
  readonly #left = Promise.withResolvers<undefined>();
  /** Aborted when the user drops the operation that is going on. */
  #operation: AbortController | undefined;
  #hasEnded = false;
  #droppedPrompts = 0;
  #isAsking = false;
  #threadId = "";
  #hasRun = false;
  #isDisposed = false;

  constructor(options: ConversationOptions) {
    this.#options = options;
    this.#ctrlC = new CtrlC(options.now);
  }

  /**
   * Runs each prompt of the view until its input ends (interface 1, "Interactive
   * mode rules"). `exit` and `quit` end with `done` although a run failed.
   *
   * @throws {InputError} If standard input cannot be read.
   * @throws Whatever standard output rejects with: see `isReaderGone()`.
   */
  async runInteractive(): Promise<Ending> {
    const { view } = this.#options;
    let ending = await this.#open();
    if (ending !== "done") return ending;
    for (;;) {
      const input = await this.#ask();
      switch (input?.kind) {
        case undefined:
          return "interrupted";
        case "end":
          return ending;
        case "refused":
          await view.show({ type: "error", message: input.reason });
          ending = "failed";
          break;
        case "prompt": {
          const word = input.text.trim().toLowerCase();
          if (word === "exit" || word === "quit") return "done";
          if (word === "") continue;
          if (!await this.#run(input.text)) ending = "failed";
          break;
        }
        default:
          input satisfies never;
      }
    }
  }

  /**
   * Runs prompts in order, until one fails.
   *
   * @throws Whatever standard output rejects with: see `isReaderGone()`.
   */
  async runPrompts(prompts: readonly string[]): Promise<Ending> {
    const ending = await this.#open();
    if (ending !== "done") return ending;
    for (const prompt of prompts) {
      if (!await this.#run(prompt)) return "failed";
    }
    return "done";
  }

  /**
   * Handles a Ctrl-C.
   *
   * @returns Whether the program goes on. If not, the caller ends it.
   */
  interrupt(): boolean {
    const { view, view: { typing } } = this.#options;
    if (typing === undefined) return false;
    if (this.#operation?.signal.aborted === false) {
      this.#droppedPrompts = typing.dropWaiting();
      this.#ctrlC.settle();
      this.#operation.abort();
      return true;
    }
    if (this.#isAsking && typing.clear?.()) {
      this.#ctrlC.clear();
      return true;
    }
    const effect = this.#ctrlC.press();
    switch (effect) {
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

  [Symbol.dispose](): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    const { view } = this.#options;
    const isGoingOn = this.#operation !== undefined && !this.#hasEnded;
    if (isGoingOn) view.show({ type: "end", completed: false });
    const threadId = this.#hasRun && view.typing !== undefined
      ? this.#threadId
      : undefined;
    view.show({ type: "farewell", threadId });
  }

  /**
   * Shows the banner, and creates a thread unless there is one to continue. Returns
   * `done` if there is a thread.
   */
  async #open(): Promise<Ending> {
    const { gateway, view, maskedKey, baseUrl, threadId } = this.#options;
    const banner = [
      `agent-gateway ${VERSION}, agent ${AGENT_NAME}, key ${maskedKey}`,
      `service ${baseUrl}`,
    ];
    for (const text of banner) await view.show({ type: "banner", text });
    if (threadId !== undefined) {
      this.#threadId = threadId;
      await view.show({ type: "thread", threadId });
      return "done";
    }
    const last = await this.#follow(
      "thread",
      (signal) => gateway.createThread({ signal }),
    );
    if (last === "dropped") return "interrupted";
    return last === "thread" ? "done" : "not started";
  }

  /** Asks for a prompt; `undefined` if Ctrl-C leaves instead. */
  async #ask(): Promise<Input | undefined> {
    this.#isAsking = true;
    const input = this.#options.view.readPrompt();
    try {
      return await Promise.race([input, this.#left.promise]);
    } finally {
      this.#isAsking = false;
    }
  }

  /** Runs one prompt and shows what happens. Returns whether its reply was shown. */
  async #run(prompt: string): Promise<boolean> {
    const { gateway, timeLimit } = this.#options;
    const last = await this.#follow(
      "run",
      (signal) =>
        gateway.runTurn(this.#threadId, prompt, {
          signal,
          timeLimit: timeLimit === undefined
            ? undefined
            : { milliseconds: timeLimit, since: performance.now() },
        }),
    );
    return last === "reply";
  }

  /**
   * Shows the events of an operation that the user can drop, or its error.
   *
   * @returns The type of the last event that was shown.
   */
  async #follow(
    what: "thread" | "run",
    act: (
      signal: AbortSignal,
    ) => AsyncGenerator<readonly (CreationEvent | TurnEvent)[]>,
  ): Promise<ViewEvent["type"] | undefined> {
    const { view } = this.#options;
    const { signal } = this.#operation = new AbortController();
    this.#hasEnded = false;
    let last: ViewEvent["type"] | undefined;
    try {
      await view.show({ type: "begin" });
      for await (const events of act(signal)) {
        for (const event of events) {
          if (this.#isLast(event)) await this.#end(true);
          const shown = view.show(event, signal);
          if (shown !== undefined) await shown;
          last = event.type;
        }
      }
      if (last === "reply") this.#ctrlC.settle();
      if (last === "reply" && signal.aborted) await this.#dropped("reply");
    } catch (error) {
      if (signal.aborted && error === signal.reason) {
        await this.#end(false);
        await this.#dropped(what);
        return "dropped";
      }
      if (!(error instanceof ServiceError)) throw error;
      const { message, failure: { operation, status } } = error;
      await this.#end(false);
      await view.show({ type: "error", message, operation, status });
      return "error";
    } finally {
      this.#operation = undefined;
    }
    return last;
  }

  /** Keeps what is known of the thread. Returns whether an event ends its operation. */
  #isLast(event: CreationEvent | TurnEvent): boolean {
    switch (event.type) {
      case "wait":
      case "progress":
        return false;
      case "run":
        this.#hasRun = true;
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
    await this.#options.view.show({ type: "end", completed });
  }

  async #dropped(what: "thread" | "run" | "reply"): Promise<void> {
    const prompts = this.#droppedPrompts;
    this.#droppedPrompts = 0;
    await this.#options.view.show({ type: "dropped", what, prompts });
  }
}
