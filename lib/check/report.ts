import type { Failure } from "../gateway.ts";
import type { ByteSink } from "../io.ts";
import { escapeControls, plainLine, withoutCommands } from "../text.ts";

export interface Line {
  /**
   * `failed`: replies are lost, or a wrong key is accepted. `note`: it works, but
   * should be improved. `-`: it could not be tried.
   */
  readonly state: "ok" | "note" | "failed" | "-";
  /** Scripts rely on the names: they never change. */
  readonly name:
    | ("version" | "settings" | "proxy" | "thread" | "run" | "stream")
    | ("events" | "live" | "ids" | "silence" | "lines" | "end" | "reply")
    | ("wrong key" | "resume");
  readonly milliseconds?: number | undefined;
  /** A moment, in milliseconds since the stream was requested. */
  readonly at?: number | undefined;
  readonly text: string;
  readonly failure?: Failure | undefined;
}

/** Writes the lines of the report, as text in columns or as JSON Lines. */
export class Report {
  readonly #stdout: ByteSink;
  readonly #json: boolean;
  hasFailed = false;

  constructor(stdout: ByteSink, { json }: { readonly json: boolean }) {
    this.#stdout = stdout;
    this.#json = json;
  }

  line(
    state: Line["state"],
    name: Line["name"],
    text: string,
    more: Omit<Line, "state" | "name" | "text"> = {},
  ): Promise<void> {
    return this.add({ state, name, text, ...more });
  }

  async add(line: Line): Promise<void> {
    const { state, name, milliseconds, at, failure } = line;
    this.hasFailed ||= state === "failed";
    const text = withoutCommands(plainLine(line.text));
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
    const time = milliseconds === undefined
      ? ""
      : `${milliseconds.toFixed(0)} ms`;
    await this.#write(
      `${state.padEnd(6)}  ${name.padEnd(9)}  ${time.padStart(9)}  ${text}`,
    );
  }

  /** Writes which program this is. */
  async version(text: string): Promise<void> {
    if (this.#json) await this.line("ok", "version", text);
    else await this.#write(text);
  }

  async #write(line: string): Promise<void> {
    await this.#stdout.write(new TextEncoder().encode(`${line}\n`));
  }
}
