/**
 * The output of `--json`: events as JSON Lines, as `docs/events.schema.json` says.
 * Scripts rely on it: later versions may add fields, and never remove or rename any.
 *
 * @module
 */

import type { ByteSink } from "../io.ts";
import { escapeControls } from "../text.ts";
import { PromptLines } from "./stdin_prompts.ts";
import type { Input, View, ViewEvent } from "./view.ts";

/** Reads prompts as lines and writes JSON Lines, each before the next one is formatted. */
export class JsonView implements View {
  readonly #stdout: ByteSink;
  readonly #lines: PromptLines;
  readonly #encoder = new TextEncoder();

  constructor(stdin: AsyncIterable<Uint8Array>, stdout: ByteSink) {
    this.#stdout = stdout;
    this.#lines = new PromptLines(stdin, false);
  }

  readPrompt(): Promise<Input> {
    return this.#lines.next();
  }

  async show(event: ViewEvent): Promise<void> {
    const line = lineOf(event);
    if (line === undefined) return;
    const text = escapeControls(JSON.stringify(line));
    await this.#stdout.write(this.#encoder.encode(text + "\n"));
  }
}

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
