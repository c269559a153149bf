import { EXIT } from "../exit_codes.ts";
import {
  AGENT_NAME,
  type CreationEvent,
  type Gateway,
  ServiceError,
  type TurnEvent,
} from "../gateway.ts";
import { type Input, TimeLimit, within } from "../io.ts";
import { VERSION } from "../version.ts";
import { CtrlC } from "./ctrl_c.ts";
import { ExitCode } from "./exit_code.ts";
import { Operation } from "./operation.ts";
import type { Dropped, View, ViewEvent } from "./view.ts";
import { type Redacted, safe, type ServiceId, unchanged } from "../text.ts";

interface ConversationOptions {
  readonly gateway: Gateway;
  readonly view: View;
  readonly maskedKey: string;
  readonly baseUrl: string;
  /** The thread to continue. By default a new one is created. */
  readonly threadId?: ServiceId | undefined;
  /** How long one prompt may take, in milliseconds. By default there is no limit. */
  readonly timeLimit?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** How a prompt ended; `unread` if nobody reads what it writes. */
type Outcome = "done" | "failed" | "dropped" | "unread";

interface Prompt {
  readonly text: string;
  /** Its number, counted from 1, if the call is known to have more than one. */
  readonly number?: number | undefined;
}

/**
 * Prompts that run on one thread, one at a time. It owns the state of the thread, and
 * decides what Ctrl-C does; an {@linkcode Operation} is what a user can drop, and a
 * {@linkcode View} shows what happens.
 */
export class Conversation {
  readonly #options: ConversationOptions;
  readonly #ctrlC = new CtrlC();
  readonly #exitCode = new ExitCode();
  /** Resolved with the exit code when a person leaves, or a signal ends the program. */
  readonly #leaving = Promise.withResolvers<number>();
  /** Resolved when nothing is being done or shown any more. */
  #doing: Promise<void> | undefined;
  #operation: Operation | undefined;
  #threadId: ServiceId | undefined;
  /** Whether the thread may have a run, and is known to the service. */
  #canContinue = false;
  /** Set when the conversation is left. */
  #left: Promise<void> | undefined;
  /** Whether the view has shown the farewell. */
  #isOver = false;

  constructor(options: ConversationOptions) {
    this.#options = options;
  }

  /**
   * Runs each prompt of the view until its input ends (interface 1, "Interactive
   * mode rules").
   *
   * @returns The exit code: 0 after `exit` and `quit`, and at the end of what a person
   * types, who has seen what failed; 1 if there is no thread for them.
   * @throws {StreamError} If standard input cannot be read.
   * @throws Whatever standard output rejects with: see `isReaderGone()`.
   */
  async runInteractive(): Promise<number> {
    const opened = await this.#inTime((limit) => this.#open(limit));
    if (opened === "dropped") return EXIT.interrupted;
    if (opened !== "done") return this.#isTyped ? 1 : this.#exitCode.value;
    let prompts = 0;
    const nextNumber = () => {
      prompts++;
      return prompts > 1 ? prompts : undefined;
    };
    for (;;) {
      const input = await this.#ask();
      if (typeof input === "number") return input;
      let outcome: Outcome;
      switch (input.kind) {
        case "end":
          return this.#isTyped ? 0 : this.#exitCode.value;
        case "refused":
          outcome = await this.#inTime(() =>
            this.#reject(input.reason, nextNumber())
          );
          break;
        case "text": {
          const { text } = input;
          if (isExit(text)) return 0;
          if (text.trim() === "") continue;
          const prompt = { text, number: nextNumber() };
          outcome = await this.#inTime((limit) => this.#run(prompt, limit));
          // A connection for the next prompt, which a person may send soon.
          if (outcome === "done" && this.#isTyped) {
            this.#options.gateway.prepare();
          }
          break;
        }
        default:
          return input satisfies never;
      }
      if (outcome === "unread" && !this.#isTyped) return this.#exitCode.value;
    }
  }

  /**
   * Runs prompts in order, until one fails. The time limit of the first one includes
   * the creation of the thread. Rejects as standard output does.
   *
   * @returns The exit code.
   */
  async runPrompts(texts: readonly string[]): Promise<number> {
    for (const [index, text] of texts.entries()) {
      const number = texts.length > 1 ? index + 1 : undefined;
      const outcome = await this.#inTime(async (limit) => {
        const opened = index === 0 ? await this.#open(limit) : "done";
        return opened === "done"
          ? await this.#run({ text, number }, limit)
          : opened;
      });
      if (outcome !== "done") break;
    }
    return this.#exitCode.value;
  }

  /** Handles a Ctrl-C. Returns whether the program continues; else the caller ends it. */
  interrupt(): boolean {
    const { view } = this.#options;
    const { typing } = view;
    if (typing === undefined) return false;
    const operation = this.#operation;
    const isRunning = operation?.dropped.aborted === false;
    const clear = () => operation === undefined && typing.clear?.() === true;
    const effect = this.#ctrlC.press(isRunning, clear);
    switch (effect) {
      case "drop":
        operation?.drop(typing.dropWaiting());
        return true;
      case "clear":
        return true;
      case "leave":
        if (operation !== undefined) return false;
        this.#leaving.resolve(EXIT.interrupted);
        return true;
      case "announce":
      case "nothing":
        view.show({ type: "ctrl-c", isFirst: effect === "announce" });
        if (effect === "nothing") void this.#leaveIfStuck(EXIT.interrupted);
        return true;
      default:
        return effect satisfies never;
    }
  }

  /**
   * Handles what was entered during an operation. A user who exits does not wait for a
   * terminal that accepts no more of the reply.
   */
  noteQueued(next: Input): void {
    const isWayOut = next.kind === "end" ||
      next.kind === "text" && isExit(next.text);
    if (isWayOut && this.#operation?.ending === "completed") {
      void this.#leaveIfStuck(EXIT.done);
    }
  }

  /** Leaves at once if the terminal accepts no more output. */
  async #leaveIfStuck(code: number): Promise<void> {
    const { typing } = this.#options.view;
    if (await typing?.takesOutput?.() === false) this.#leaving.resolve(code);
  }

  /**
   * Drops what is going on, and ends the view. No prompt is run any more, and nothing is
   * shown after this.
   *
   * @param limit The longest wait for the operation to end, in milliseconds.
   */
  leave(limit = 0): Promise<void> {
    this.#left ??= this.#leave(limit);
    return this.#left;
  }

  get #isTyped(): boolean {
    return this.#options.view.typing !== undefined;
  }

  async #leave(limit: number): Promise<void> {
    const { view } = this.#options;
    this.#leaving.resolve(EXIT.interrupted);
    this.#operation?.drop();
    if (this.#doing) await within(limit, this.#doing, () => {});
    this.#isOver = true;
    const unfinished = this.#operation; // It was not over in time.
    // If nobody reads a reply, its rest could come after the farewell.
    const isUnread = unfinished?.ending !== undefined;
    if (unfinished && !isUnread) view.show(unfinished.end(false));
    const hasFarewell = this.#canContinue && this.#isTyped && !isUnread;
    const threadId = hasFarewell ? this.#threadId : undefined;
    await view.show({ type: "farewell", threadId });
  }

  /**
   * Does something with the time limit. A script whose output nobody reads 5 s after the
   * limit gives up; a chat waits for its terminal.
   */
  async #inTime(
    task: (limit: AbortSignal) => Promise<Outcome>,
  ): Promise<Outcome> {
    using limit = new TimeLimit(this.#options.timeLimit);
    const doing = task(limit.signal);
    this.#doing = doing.then(() => {}, () => {});
    if (this.#isTyped) {
      const left = this.#leaving.promise.then(() => "unread" as const);
      return await Promise.race([doing, left]);
    }
    if (await limit.endsInTime(doing)) return await doing;

    const operation = this.#operation;
    // A failure has been shown already.
    if (operation && operation.ending !== "failed") {
      this.#exitCode.fail(operation.events);
    }
    void this.#show({ type: "error", message: UNREAD });
    return "unread";
  }

  /** Shows why a line was rejected. */
  async #reject(
    reason: Redacted,
    number: number | undefined,
  ): Promise<Outcome> {
    this.#exitCode.fail();
    const message = safe`${this.#placeOf(number)}${reason}`;
    await this.#show({ type: "error", message });
    return "failed";
  }

  /** Shows the banner, and creates a thread unless there is one to continue. */
  async #open(limit: AbortSignal): Promise<Outcome> {
    const { gateway, maskedKey, baseUrl, threadId } = this.#options;
    const banner = [
      `agent-gateway ${VERSION}, agent ${AGENT_NAME}, key ${maskedKey}`,
      `service ${baseUrl}`,
    ];
    for (const line of banner) {
      const text = gateway.redactor.show(line);
      await this.#show({ type: "banner", text });
    }
    const call = (signal: AbortSignal) =>
      threadId === undefined
        ? gateway.createThread({ signal })
        : continueThread(threadId);
    return await this.#follow(new Operation("thread", call, limit));
  }

  /** Returns the next prompt, or the exit code if the conversation is left instead. */
  async #ask(): Promise<Input | number> {
    if (this.#left !== undefined) return EXIT.interrupted;
    const left = this.#leaving.promise;
    return await Promise.race([left, this.#options.view.readPrompt()]);
  }

  #run(
    { text, number }: Prompt,
    limit: AbortSignal,
  ): Promise<Outcome> {
    const { gateway, headers } = this.#options;
    const threadId = this.#threadId;
    if (threadId === undefined) throw new Error("there is no thread");
    const call = (signal: AbortSignal) =>
      gateway.runTurn(threadId, unchanged(text), { signal, headers });
    return this.#follow(new Operation("run", call, limit), number);
  }

  /**
   * Shows the events of an operation, or why it failed.
   *
   * @param number The number of its prompt, if there are several.
   */
  async #follow(operation: Operation, number?: number): Promise<Outcome> {
    this.#operation = operation;
    try {
      await this.#show({ type: "begin" });
      for await (const event of operation.events) {
        const shown = this.#receive(event, operation);
        // Awaiting nothing would cost as much as showing an event.
        if (shown !== undefined) await shown;
      }
      return await this.#complete(operation);
    } catch (error) {
      const { dropped } = operation;
      const isDropped = dropped.aborted && error === dropped.reason;
      const failure = error instanceof ServiceError ? error : undefined;
      if (!isDropped && failure === undefined) throw error;
      this.#exitCode.fail(failure);
      const { fate } = failure ?? operation.events;
      this.#canContinue ||= fate === "may have run" || fate === "may go on";
      if (operation.ending === undefined) {
        await this.#show(operation.end(false));
      }
      if (failure !== undefined) return await this.#fail(failure, number);

      return await this.#showDropped(operation.unfinished, operation);
    } finally {
      this.#operation = undefined;
    }
  }

  /** Keeps what an event says about the thread and the operation, and shows it. */
  #receive(
    event: CreationEvent | TurnEvent,
    operation: Operation,
  ): void | Promise<void> {
    switch (event.type) {
      case "wait":
      case "progress":
        return this.#show(event);
      case "run":
        this.#canContinue = true;
        operation.startRun();
        return this.#show(event);
      case "thread":
        this.#threadId = event.threadId;
        return this.#showLast(event, operation);
      case "reply":
        this.#exitCode.complete();
        return this.#showLast(event, operation);
      default:
        return event satisfies never;
    }
  }

  async #showLast(event: ViewEvent, operation: Operation): Promise<void> {
    await this.#show(operation.end(true));
    await this.#show(event);
  }

  /** Ends an operation that the service has done. */
  async #complete(operation: Operation): Promise<Outcome> {
    const isRun = operation.kind === "run";
    if (isRun) this.#ctrlC.settle();
    if (!operation.dropped.aborted) return "done";
    return await this.#showDropped(isRun ? "reply" : "thread", operation);
  }

  async #fail(
    failure: ServiceError,
    number: number | undefined,
  ): Promise<Outcome> {
    if (failure.failure.isThreadGone) this.#canContinue = false;
    const place = this.#placeOf(number, failure.namesIds);
    const message = safe`${place}${failure.message}`;
    await this.#show({ type: "error", message, failure });
    return "failed";
  }

  /** Which prompt of a script has failed, if there are several, and its thread. */
  #placeOf(number: number | undefined, namesThread = false): Redacted {
    if (this.#isTyped || number === undefined) return "";
    const id = namesThread ? undefined : this.#threadId;
    const thread = id === undefined ? "" : safe` on thread ${id}`;
    return safe`Prompt ${number}${thread}: `;
  }

  async #showDropped(
    what: Dropped["what"],
    { droppedPrompts: prompts }: Operation,
  ): Promise<Outcome> {
    if (this.#left === undefined) {
      await this.#show({ type: "dropped", what, prompts });
    }
    return "dropped";
  }

  /** Shows an event, unless the conversation is over. */
  #show(event: ViewEvent): void | Promise<void> {
    if (this.#isOver) return;
    return this.#options.view.show(event, this.#operation?.dropped);
  }
}

/** Whether a prompt leaves (interface 1, "Interactive mode rules" 3). */
function isExit(text: string): boolean {
  return ["exit", "quit"].includes(text.trim().toLowerCase());
}

const UNREAD =
  safe`The time limit has passed, and standard output is read too slowly or not at all`;

/** The events of a thread that exists. */
async function* continueThread(
  threadId: ServiceId,
): AsyncGenerator<CreationEvent> {
  yield { type: "thread", threadId };
}
