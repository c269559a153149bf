/**
 * The output of `--json`: the events of prompts as JSON Lines. The schema is
 * `docs/events.schema.json`; fields are only ever added.
 *
 * @module
 */

import type { ProgressEvent } from "../gateway.ts";
import { readInputLines } from "../input_lines.ts";
import { escapeControls } from "../plain_json.ts";
import type { ByteSink } from "../standard_streams.ts";
import type { FailureDetails, Input, Terminal } from "./terminal.ts";

type JsonLine =
  | { readonly type: "thread"; readonly thread_id: string }
  | { readonly type: "run"; readonly run_id: string }
  | {
    readonly type: "progress";
    readonly node: string;
    readonly status: string;
  }
  | { readonly type: "reply"; readonly text: string }
  | FailureDetails & { readonly type: "error"; readonly message: string };

/** Options of {@linkcode JsonLines}. */
export interface JsonLinesOptions {
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stdout: ByteSink;
}

/** Reads prompts as lines and writes JSON Lines, each before the next one is formatted. */
export class JsonLines implements Terminal {
  readonly #stdout: ByteSink;
  readonly #lines: AsyncIterator<string | undefined>;
  readonly #encoder = new TextEncoder();

  constructor({ stdin, stdout }: JsonLinesOptions) {
    this.#stdout = stdout;
    this.#lines = readInputLines(stdin);
  }

  async readPrompt(): Promise<Input> {
    const { done, value } = await this.#lines.next();
    if (done) return { kind: "end" };
    return value === undefined
      ? { kind: "too long" }
      : { kind: "prompt", text: value };
  }

  banner(): void {}

  thread(threadId: string): Promise<void> {
    return this.#write({ type: "thread", thread_id: threadId });
  }

  begin(): void {}

  wait(): void {}

  run(runId: string): Promise<void> {
    return this.#write({ type: "run", run_id: runId });
  }

  progress({ node, status }: ProgressEvent): Promise<void> {
    return this.#write({ type: "progress", node, status });
  }

  end(): void {}

  reply(text: string): Promise<void> {
    return this.#write({ type: "reply", text });
  }

  note(): void {}

  error(message: string, details: FailureDetails = {}): Promise<void> {
    return this.#write({ type: "error", message, ...details });
  }

  interrupt(): boolean {
    return false;
  }

  [Symbol.dispose](): void {}

  async #write(line: JsonLine): Promise<void> {
    const text = escapeControls(JSON.stringify(line));
    await this.#stdout.write(this.#encoder.encode(text + "\n"));
  }
}
