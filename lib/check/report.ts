import { ServiceError } from "../gateway.ts";
import type { ByteSink } from "../io.ts";
import {
  escapeControls,
  plainLine,
  type Redacted,
  withoutCommands,
} from "../text.ts";

export interface ReportLine {
  /**
   * `failed`: replies are lost, or a wrong key is accepted. `note`: it works, but
   * should be improved. `-`: it could not be tried.
   */
  readonly state: "ok" | "note" | "failed" | "-";
  /** Scripts rely on the names: they never change. */
  readonly name:
    | "version"
    | "settings"
    | "proxy"
    | "thread"
    | "wrong key"
    | "run"
    | "events"
    | "live"
    | "reply";
  readonly text: Redacted;
  /** How long it took. */
  readonly milliseconds?: number | undefined;
  /** When it happened, in milliseconds since the run was accepted. */
  readonly at?: number | undefined;
  readonly error?: ServiceError | undefined;
}

/** Writes the lines of the report, as text in columns or as JSON Lines. */
export class Report {
  readonly #stdout: ByteSink;
  readonly #json: boolean;
  #hasFailed = false;

  constructor(stdout: ByteSink, { json }: { readonly json: boolean }) {
    this.#stdout = stdout;
    this.#json = json;
  }

  /** Whether one of the lines so far is `failed`. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  async add(line: ReportLine): Promise<void> {
    if (line.state === "failed") this.#hasFailed = true;
    const text = withoutCommands(plainLine(line.text));
    const shown = this.#json ? inJson(line, text) : inColumns(line, text);
    await this.#stdout.write(new TextEncoder().encode(`${shown}\n`));
  }

  /** Adds what failed at the service; throws any other error again. */
  async fail(
    name: ReportLine["name"],
    error: unknown,
    milliseconds?: number,
  ): Promise<void> {
    if (!(error instanceof ServiceError)) throw error;
    const { message: text } = error;
    await this.add({ state: "failed", name, text, milliseconds, error });
  }
}

function inJson(line: ReportLine, text: string): string {
  const { state, name, milliseconds, at, error } = line;
  const published = {
    type: "check",
    state,
    name,
    text,
    milliseconds: milliseconds && Math.round(milliseconds),
    at: at && Math.round(at),
    operation: error?.operation,
    status: error?.status,
    fate: error?.fate,
  };
  return escapeControls(JSON.stringify(published));
}

function inColumns(
  { state, name, milliseconds }: ReportLine,
  text: string,
): string {
  if (name === "version") return text;
  const time = milliseconds === undefined
    ? ""
    : `${milliseconds.toFixed(0)} ms`;
  return `${state.padEnd(6)}  ${name.padEnd(9)}  ${time.padStart(9)}  ${text}`;
}
