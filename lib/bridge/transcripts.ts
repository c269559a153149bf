import type { ClientFeatures } from "./capabilities.ts";
import {
  message,
  notice,
  type Said,
  type SessionUpdate,
} from "./session_updates.ts";
import { safe } from "../text.ts";

/** The most that is kept of one conversation, in bytes of UTF-8. */
export const MAX_BYTES = 1024 * 1024;

/** The most that is kept of all conversations, in bytes of UTF-8. */
export const MAX_ALL_BYTES = 16 * MAX_BYTES;

/** The least that a message is counted as, in bytes: its objects take as much memory. */
const MIN_BYTES = 1_500;

const EARLIER = safe`Earlier messages are not shown here.`;

/** A message whose text is kept as UTF-8: strings take up to twice as much memory. */
interface KeptMessage extends Omit<Said, "text"> {
  readonly text: Uint8Array;
  /** The number of its prompt in the conversation. */
  readonly turn: number;
}

/** What is known of one conversation: the newest messages, at most 1 MiB of them. */
export class Transcript {
  readonly #all: Transcripts;
  /** Whether earlier messages are unknown, or were dropped. */
  #isCut: boolean;
  readonly #messages: KeptMessage[] = [];
  #bytes = 0;
  #turns = 0;

  /** @param isCut Whether messages of an earlier process are missing. */
  constructor(all: Transcripts, isCut: boolean) {
    this.#all = all;
    this.#isCut = isCut;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Adds a prompt at the end, or the reply to one, by the number of that: before the
   * prompts that came later, and are waiting. Returns the number.
   */
  add(said: Said, turn = ++this.#turns): number {
    // The rest of a text that is longer is not needed: all of it is dropped.
    const text = said.text.slice(0, MAX_BYTES + 1);
    const added = { ...said, text: new TextEncoder().encode(text), turn };
    const place = this.#messages.findLastIndex((it) => it.turn <= turn) + 1;
    this.#messages.splice(place, 0, added);
    this.#bytes += bytesOf(added);
    this.dropTo(MAX_BYTES);
    this.#all.use(this);
    return turn;
  }

  /** The updates that show it now. It is then the one that was used last. */
  replay({ showsNotices }: ClientFeatures): readonly SessionUpdate[] {
    this.#all.use(this);
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    const updates = this.#messages.map((kept) =>
      message({ ...kept, text: decoder.decode(kept.text) })
    );
    if (!this.#isCut) return updates;
    const messageId = crypto.randomUUID();
    const earlier = showsNotices
      ? notice("info", EARLIER)
      : message({ by: "agent", messageId, text: EARLIER });
    return [earlier, ...updates];
  }

  /** Drops the oldest messages, until at most so many bytes are left. */
  dropTo(limit: number): void {
    while (this.#bytes > limit) {
      const oldest = this.#messages.shift();
      if (oldest !== undefined) this.#bytes -= bytesOf(oldest);
      this.#isCut = true;
    }
  }
}

function bytesOf({ text }: KeptMessage): number {
  return Math.max(MIN_BYTES, text.length);
}

/** The transcripts of a process: at most 16 MiB of those that were used last. */
export class Transcripts {
  /** The one that was used longest ago comes first. */
  readonly #kept = new Set<Transcript>();

  use(transcript: Transcript): void {
    this.#kept.delete(transcript);
    this.#kept.add(transcript);
    let bytes = 0;
    for (const kept of this.#kept) bytes += kept.bytes;
    for (const oldest of this.#kept) {
      if (bytes <= MAX_ALL_BYTES) return;
      bytes -= oldest.bytes;
      oldest.dropTo(0);
      this.#kept.delete(oldest);
    }
  }
}
