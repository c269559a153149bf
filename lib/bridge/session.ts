import type { ClientOutput } from "./client_output.ts";
import { invalidRequest, type RequestId } from "./json_rpc.ts";
import { titleUpdate } from "./session_updates.ts";
import { Transcript, type Transcripts } from "./transcripts.ts";
import type { ServiceId } from "../text.ts";

/** A prompt that has been accepted, until it is answered. */
export interface AcceptedPrompt {
  readonly requestId: RequestId;
  /** Resolves when the request has been answered. */
  readonly answered: Promise<void>;
  readonly isCancelled: boolean;
  cancel(): void;
}

/** A conversation: its thread at the service, its text, the prompt that is running. */
export class Session {
  readonly id: string;
  readonly threadId: ServiceId;
  readonly transcript: Transcript;
  /** Whether the service has said that it does not know the thread. */
  isGone = false;
  /** Set by `session/new`; cleared by its title, or when the session is closed. */
  #needsTitle: boolean;
  /** The last prompt, until it is answered. */
  #prompt: AcceptedPrompt | undefined;

  /** @param options.isNew Whether its thread was created for it. */
  constructor(
    transcripts: Transcripts,
    { id, threadId, isNew }: {
      readonly id: string;
      readonly threadId: ServiceId;
      readonly isNew: boolean;
    },
  ) {
    this.id = id;
    this.threadId = threadId;
    this.transcript = new Transcript(transcripts, !isNew);
    this.#needsTitle = isNew;
  }

  /**
   * Accepts a prompt, unless another one is running.
   *
   * @returns The cancelled prompt before it, if that one is not answered yet.
   * @throws {RpcError} Invalid request, if another one is running.
   */
  begin(prompt: AcceptedPrompt): AcceptedPrompt | undefined {
    const previous = this.#prompt;
    if (previous !== undefined && !previous.isCancelled) {
      throw invalidRequest(
        "a prompt is running in this chat; wait for its answer or cancel it",
      );
    }
    this.#prompt = prompt;
    prompt.answered.then(() => {
      if (this.#prompt === prompt) this.#prompt = undefined;
    });
    return previous;
  }

  /** Cancels the prompt that is running; with an id, only the one of that request. */
  cancel(requestId?: unknown): void {
    if (requestId === undefined || this.#prompt?.requestId === requestId) {
      this.#prompt?.cancel();
    }
  }

  /** Cancels what runs; resolves when it has been answered. */
  async close(): Promise<void> {
    this.#needsTitle = false;
    this.cancel();
    await this.#prompt?.answered;
  }

  /** Sends the conversation as far as it is known, until a response may follow. */
  async replay(output: ClientOutput): Promise<void> {
    const updates = this.transcript.updates(output.client);
    for (const update of updates) await output.update(this.id, update);
    if (updates.length > 0) await output.keepDistance();
  }

  /** Sends a title after the response to this prompt, if the session needs one. */
  sendTitle(prompt: string, output: ClientOutput): void {
    if (!this.#needsTitle || !output.client.takesTitles) return;
    this.#needsTitle = false;
    const update = titleUpdate(prompt);
    if (update === undefined) return;
    output.notify("session/update", { sessionId: this.id, update });
  }
}
