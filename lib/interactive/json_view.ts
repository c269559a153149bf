/**
 * The output of `--json`: events as JSON Lines, as `docs/events.schema.json` says.
 * Scripts rely on it: later versions may add fields, and never remove or rename any.
 *
 * @module
 */

import { type ByteSink, type Input, LineWriter } from "../io.ts";
import { jsonLine } from "../text.ts";
import type { PromptLines } from "./stdin_prompts.ts";
import type { View, ViewEvent } from "./view.ts";

/** Reads prompts as lines, and writes JSON Lines. */
export class JsonView implements View {
  readonly #prompts: PromptLines;
  readonly #output: LineWriter;

  constructor(prompts: PromptLines, stdout: ByteSink) {
    this.#prompts = prompts;
    this.#output = new LineWriter(stdout);
  }

  get failed(): Promise<never> {
    return this.#output.failed;
  }

  readPrompt(): Promise<Input> {
    return this.#prompts.next();
  }

  /**
   * Queues a line. Progress waits only if much is queued, so that many lines are one
   * write. All other events wait until everything is written, also those without a line.
   */
  show(event: ViewEvent): void | Promise<void> {
    if (event.type === "farewell") {
      return this.#output.flushWithin(END_LIMIT).then(() => {});
    }
    const line = lineOf(event);
    if (line === undefined) return this.#output.flush();
    const text = event.type === "reply" ? event.text : undefined;
    const json = jsonLine(line, { text });
    if (event.type === "progress") {
      this.#output.gather(json);
      return this.#output.hasBacklog ? this.#output.flush() : undefined;
    }
    this.#output.write(json);
    return this.#output.flush();
  }
}

/** How long the end waits for a reader, in milliseconds. */
const END_LIMIT = 400;

/** The published form of an event, field by field, so that no internal one slips in. */
function lineOf(event: ViewEvent): object | undefined {
  switch (event.type) {
    case "thread":
      return { type: "thread", thread_id: event.threadId };
    case "run":
      return { type: "run", run_id: event.runId };
    case "progress":
      return { type: "progress", node: event.node, status: event.status };
    case "reply":
      return { type: "reply", text: event.text, note: event.note };
    case "error": {
      const { message, failure: { operation, status, fate } = {} } = event;
      return { type: "error", message, operation, status, fate };
    }
    case "banner":
    case "begin":
    case "end":
    case "wait":
    case "dropped":
    case "ctrl-c":
    case "farewell":
      return undefined;
    default:
      return event satisfies never;
  }
}
