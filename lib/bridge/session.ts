import { type Redacted, safe, type ServiceId, size } from "../text.ts";
import type { ClientOutput } from "./client_output.ts";
import { invalidRequest, type RequestId } from "./json_rpc.ts";
import { Transcript, type Transcripts } from "./transcripts.ts";

/** The most prompts that wait in a session for the one that runs. */
export const MAX_WAITING = 100;

/** The most text in them, in bytes of UTF-8. */
export const MAX_WAITING_BYTES = 16 * 1024 * 1024;

/** A prompt that has been accepted: a `SessionPrompt`, which knows its session. */
export interface AcceptedPrompt {
  readonly requestId: RequestId;
  /** The size of its text, in bytes of UTF-8. */
  readonly bytes: number;
  run(before: Promise<void>): Promise<void>;
  cancel(): void;
}

/** A conversation: its thread at the service, its text, and its prompts. */
export class Session {
  readonly id: Redacted;
  readonly threadId: ServiceId;
  readonly transcript: Transcript;
  /** Whether the service has said that it does not know the thread. */
  isGone = false;
  /** Set for a new session; cleared by its title, or when the session is closed. */
  #needsTitle: boolean;
  /**
   * The prompts that are neither answered nor cancelled: the first one runs, the others
   * wait.
   */
  readonly #prompts = new Set<AcceptedPrompt>();
  /** Resolves when all of them have been answered. */
  #allAnswered: Promise<void> = Promise.resolve();

  constructor(
    transcripts: Transcripts,
    { id, threadId, isNew }: Pick<Session, "id" | "threadId"> & {
      readonly isNew: boolean;
    },
  ) {
    this.transcript = new Transcript(transcripts, !isNew);
    this.id = id;
    this.threadId = threadId;
    this.#needsTitle = isNew;
  }

  /**
   * Runs a prompt when all before it have been answered. Resolves when it has been
   * answered itself.
   *
   * @throws {RpcError} Invalid request, if too many are waiting.
   */
  async run(prompt: AcceptedPrompt): Promise<void> {
    const [running, ...waiting] = this.#prompts;
    if (running !== undefined) requireRoom([...waiting, prompt]);
    this.#prompts.add(prompt);
    const before = this.#allAnswered;
    const answered = prompt.run(before);
    this.#allAnswered = before.then(() => answered);
    await answered;
    this.#prompts.delete(prompt);
  }

  /** Cancels all of its prompts; with an id, only the one of that request. */
  cancel(requestId?: unknown): void {
    for (const prompt of this.#prompts) {
      if (requestId === undefined || prompt.requestId === requestId) {
        prompt.cancel();
        this.#prompts.delete(prompt);
      }
    }
  }

  /** Cancels all of its prompts; resolves when they have been answered. */
  async close(): Promise<void> {
    this.#needsTitle = false;
    this.cancel();
    await this.#allAnswered;
  }

  /** Sends the conversation as far as it is known, until a response may follow. */
  async replay(output: ClientOutput): Promise<void> {
    const updates = this.transcript.replay(output.client);
    for (const update of updates) {
      while (output.isFull) await output.progress;
      output.update(this.id, update);
    }
    await output.keepDistance(updates.length);
  }

  /** Sends the title after the response to its first prompt, if it needs one. */
  sendTitle(title: string | undefined, output: ClientOutput): void {
    if (!this.#needsTitle || !output.client.takesTitles) return;
    this.#needsTitle = false;
    if (title === undefined) return;
    const sessionUpdate = "session_info_update";
    output.update(this.id, { sessionUpdate, title });
  }
}

/** @throws {RpcError} Invalid request, if so many prompts cannot wait. */
function requireRoom(waiting: readonly AcceptedPrompt[]): void {
  const bytes = waiting.reduce((sum, { bytes }) => sum + bytes, 0);
  if (waiting.length <= MAX_WAITING && bytes <= MAX_WAITING_BYTES) return;
  throw invalidRequest(
    safe`too many prompts are waiting in this chat (at most ${MAX_WAITING}, and ${
      size(MAX_WAITING_BYTES)
    } of text)`,
  );
}
