import type { ByteSink } from "../io.ts";
import { escapeControls, plainLine } from "../text.ts";

/**
 * The state of a line: `failed` is what keeps the program from working or loses
 * replies, `note` what is only a pity, `-` what was skipped or tells nothing.
 */
export type State = "ok" | "note" | "failed" | "-";

/** A line of the report. */
export interface Line {
  readonly state: State;
  readonly name: string;
  readonly milliseconds?: number | undefined;
  readonly text: string;
}

/** One step of the check. */
export interface Step<T> {
  readonly name: string;
  readonly act: () => T | Promise<T>;
  /** Describes the result in the report. */
  readonly tell: (result: T) => string;
  /** The text about a failure. The default is the error's message. */
  readonly failure?: string;
}

/** Writes a line about each step, as text in columns or as JSON Lines. */
export class Report {
  readonly #stdout: ByteSink;
  readonly #json: boolean;
  #hasFailed = false;

  constructor(stdout: ByteSink, { json }: { readonly json: boolean }) {
    this.#stdout = stdout;
    this.#json = json;
  }

  /** Whether a line was `failed`. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** Runs a step. Returns its result, or `undefined` if it failed. */
  async step<T>({ name, act, tell, failure }: Step<T>): Promise<T | undefined> {
    const start = performance.now();
    let result: T | undefined;
    let line: Pick<Line, "state" | "text">;
    try {
      result = await act();
      line = { state: "ok", text: tell(result) };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      line = { state: "failed", text: failure ?? reason };
    }
    const milliseconds = performance.now() - start;
    await this.line({ name, milliseconds, ...line });
    return result;
  }

  /** Writes a line. */
  async line({ state, name, milliseconds, text }: Line): Promise<void> {
    this.#hasFailed ||= state === "failed";
    const time = milliseconds === undefined
      ? {}
      : { milliseconds: Math.round(milliseconds) };
    const line = { type: "check", state, name, ...time, text: plainLine(text) };
    if (this.#json) {
      return await this.#write(escapeControls(JSON.stringify(line)));
    }
    const duration = milliseconds === undefined
      ? ""
      : `${milliseconds.toFixed(0)} ms`;
    await this.#write(
      `${state.padEnd(6)}  ${name.padEnd(10)}  ${
        duration.padStart(9)
      }  ${line.text}`,
    );
  }

  /** Writes which program this is. */
  async version(text: string): Promise<void> {
    if (this.#json) await this.line({ state: "ok", name: "version", text });
    else await this.#write(text);
  }

  async #write(line: string): Promise<void> {
    await this.#stdout.write(new TextEncoder().encode(`${line}\n`));
  }
}
