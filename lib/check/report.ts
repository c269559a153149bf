import { type Failure, ServiceError } from "../gateway.ts";
import type { ByteSink } from "../io.ts";
import { escapeControls, plainLine } from "../text.ts";

/**
 * The state of a line. `failed`: the program does not work, replies are lost, or
 * strangers are let in. `note`: users are better off if it is changed. `-`: it was
 * skipped, or tells nothing.
 */
export type State = "ok" | "note" | "failed" | "-";

/** The names of the lines. Scripts rely on them: they never change. */
export type LineName =
  | ("version" | "settings" | "proxy" | "name" | "connection" | "TLS")
  | ("thread" | "run" | "stream" | "events" | "live" | "ids" | "resume")
  | ("silence" | "lines" | "end" | "reply" | "unknown run" | "wrong key");

/** A line of the report. */
export interface Line {
  readonly state: State;
  readonly name: LineName;
  /** A duration. */
  readonly milliseconds?: number | undefined;
  /** A moment, in milliseconds since the stream was requested. */
  readonly at?: number | undefined;
  readonly text: string;
  /** The failure of the remote operation that the line is about, if it failed. */
  readonly failure?: Failure | undefined;
}

/** A line of the report without its name. */
export type Finding = readonly [
  state: State,
  text: string,
  details?: Pick<Line, "at" | "milliseconds" | "failure">,
];

/** How a result is reported: a text, or a text with a state that is not `ok`. */
export type Told = string | Pick<Line, "state" | "text">;

/** One step of the check. */
export interface Step<T> {
  readonly name: LineName;
  readonly act: () => T | Promise<T>;
  /** Describes the result in the report; its time is not part of the step's. */
  readonly tell: (result: T) => Told;
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
    let result: T;
    try {
      result = await act();
    } catch (error) {
      const milliseconds = performance.now() - start;
      const reason = error instanceof Error ? error.message : String(error);
      const cause = error instanceof ServiceError ? error.failure : undefined;
      const line = { text: failure ?? reason, failure: cause };
      await this.line({ state: "failed", name, milliseconds, ...line });
      return undefined;
    }
    const milliseconds = performance.now() - start;
    const told = tell(result);
    const line = typeof told === "string" ? { text: told } : told;
    await this.line({ state: "ok", name, milliseconds, ...line });
    return result;
  }

  /** Writes a line. */
  async line(line: Line): Promise<void> {
    const { state, name, milliseconds, at, failure } = line;
    this.#hasFailed ||= state === "failed";
    const text = plainLine(line.text);
    if (this.#json) {
      const published = {
        ...{ type: "check", state, name, text },
        milliseconds: milliseconds && Math.round(milliseconds),
        at: at && Math.round(at),
        operation: failure?.operation,
        status: failure?.status,
        fate: failure?.fate,
      };
      return await this.#write(escapeControls(JSON.stringify(published)));
    }
    const time = milliseconds ?? at;
    const shown = time === undefined ? "" : `${time.toFixed(0)} ms`;
    await this.#write(
      `${state.padEnd(6)}  ${name.padEnd(11)}  ${shown.padStart(9)}  ${text}`,
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
