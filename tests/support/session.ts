import { assertEquals } from "@std/assert";
import { VERSION } from "../../lib/version.ts";
import { settings } from "./client_process.ts";
import { fromCarets, stepsOf } from "./scripts.ts";
import { json } from "./service/behaviours.ts";
import type { Operation } from "./service/exchange.ts";
import { GatedStream } from "./service/gated_stream.ts";
import { addStream, promptsOf, ReferenceService } from "./service/service.ts";
import { Screen, type ScreenOptions, test } from "./tmux_screen.ts";

/** The rows above the first prompt if a shell started a chat on 80 columns or more. */
export const BANNER = `
  | [0]$ agent-gateway
  | agent-gateway ${VERSION}, agent the-brain, key test...cdef
  | service http://127.0.0.1:1
  | thread thread-1
  | Ctrl-J: new line, Ctrl-C: stop, command: exit; screen readers: --plain
  |`;

/** Starts a chat, and waits for its prompt. */
export const CHAT = `
  enter agent-gateway
  ${BANNER}
  | >`;

/** The same without a banner. */
export const QUIET = `
  enter agent-gateway -q
  | [0]$ agent-gateway -q
  |
  | >`;

export interface SessionOptions extends ScreenOptions {
  /** Sets the service's first answers, before those of the runs. */
  readonly setUp?: (service: ReferenceService) => void;
}

/** A person at a shell, and a service whose runs a script drives, one after the other. */
export class Session implements AsyncDisposable {
  readonly service: ReferenceService;
  readonly screen: Screen;
  readonly #runs = Array.from({ length: 3 }, () => new GatedStream());

  static async open(
    { setUp, ...options }: SessionOptions = {},
  ): Promise<Session> {
    const service = ReferenceService.start();
    setUp?.(service);
    service.misbehave("create thread", json({ thread_id: "thread-1" }));
    try {
      const env = settings(service);
      return new Session(service, await Screen.open({ ...options, env }));
    } catch (error) {
      await service[Symbol.asyncDispose]();
      throw error;
    }
  }

  private constructor(service: ReferenceService, screen: Screen) {
    this.service = service;
    this.screen = screen;
    for (const run of this.#runs) addStream(service, run.behaviour);
  }

  /** The run that is going on, or the next one. */
  get run(): GatedStream {
    const [run] = this.#runs;
    if (run === undefined) throw new Error("No run is left");
    return run;
  }

  /** Completes the run. */
  reply(text: string): void {
    this.run.complete(text);
    this.#runs.shift();
  }

  /**
   * Plays a script: what the person does, the rows that {@linkcode Screen.shows} waits
   * for, and what the run does. Replies, pastes and prompts are in caret notation.
   */
  async play(script: string): Promise<void> {
    for (const [verb, text] of stepsOf(script)) await this.#act(verb, text);
  }

  async #act(verb: string, text: string): Promise<void> {
    const { screen } = this;
    switch (verb) {
      case "|":
        return await screen.shows(...text.split("\n"));
      case "match":
        return void await screen.waitFor(RegExp(text, "m"));
      case "type":
        return await screen.type(text);
      case "enter":
        return await screen.enter(text);
      case "press":
        return await screen.press(text);
      case "paste":
        return await screen.paste(fromCarets(text));
      case "signal":
        return await screen.kill(text as Deno.Signal);
      case "progress": {
        const [node = "", status = ""] = text.split(": ");
        return this.run.progress(node, status);
      }
      case "reply":
        return this.reply(fromCarets(text));
      case "asked":
        return void await (text === ""
          ? this.run.opened
          : this.service.waitFor(text as Operation));
      case "dropped":
        await this.run.dropped;
        return void this.#runs.shift();
      case "prompts": {
        const prompts = text.split(" / ").map(fromCarets);
        return assertEquals(promptsOf(this.service), prompts);
      }
      default:
        throw new Error(`No step: ${verb}`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.screen[Symbol.asyncDispose]();
    await this.service[Symbol.asyncDispose]();
  }
}

/** A test that plays a script, and then may check more. */
export function session(
  name: string,
  script: string,
  { tool, check, ...options }: SessionOptions & {
    /** The test is skipped where it is missing. */
    readonly tool?: string;
    readonly check?: (session: Session) => unknown;
  } = {},
): void {
  test(name, async () => {
    await using session = await Session.open(options);
    await session.play(script);
    await check?.(session);
  }, tool);
}
