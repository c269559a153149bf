import type { ClientFeatures } from "./capabilities.ts";
import {
  message,
  notice,
  type Said,
  type SessionUpdate,
} from "./session_updates.ts";

const MAX_BYTES = 1024 * 1024;

/** The bytes that a shorter message counts as: it takes about as much memory. */
const MIN_BYTES = 100;

const MAX_TRANSCRIPTS = 100;

const EARLIER = "Earlier messages are not shown here.";

/** What is known of one conversation: the newest messages, at most 1 MiB of them. */
export class Transcript {
  readonly #all: Transcripts;
  /** Whether earlier messages are unknown, or were dropped. */
  #isCut: boolean;
  readonly #messages: { readonly said: Said; readonly bytes: number }[] = [];
  #bytes = 0;

  /** @param isCut Whether messages of an earlier process are missing. */
  constructor(all: Transcripts, isCut: boolean) {
    this.#all = all;
    this.#isCut = isCut;
  }

  add(said: Said): void {
    const bytes = Math.max(MIN_BYTES, byteLength(said.text));
    this.#messages.push({ said, bytes });
    this.#bytes += bytes;
    this.#dropTo(MAX_BYTES);
    this.#all.keep(this);
  }

  clear(): void {
    this.#dropTo(0);
  }

  /** The updates that show it now. */
  updates(
    { showsNotices }: Pick<ClientFeatures, "showsNotices">,
  ): readonly SessionUpdate[] {
    const updates = this.#messages.map(({ said }) => message(said));
    if (!this.#isCut) return updates;
    const messageId = crypto.randomUUID();
    const earlier = showsNotices
      ? notice("info", EARLIER)
      : message({ by: "agent", messageId, text: EARLIER });
    return [earlier, ...updates];
  }

  #dropTo(limit: number): void {
    while (this.#bytes > limit) {
      this.#bytes -= this.#messages.shift()?.bytes ?? 0;
      this.#isCut = true;
    }
  }
}

/** The transcripts of the 100 sessions in which something was said last. */
export class Transcripts {
  /** The one that has been silent for longest comes first. */
  readonly #kept = new Set<Transcript>();

  keep(transcript: Transcript): void {
    this.#kept.delete(transcript);
    this.#kept.add(transcript);
    const [oldest] = this.#kept;
    if (this.#kept.size <= MAX_TRANSCRIPTS || oldest === undefined) return;
    this.#kept.delete(oldest);
    oldest.clear();
  }
}

/** The length of a text in UTF-8; of one that is too long anyway, a lower bound. */
function byteLength(text: string): number {
  return text.length > MAX_BYTES
    ? text.length
    : new TextEncoder().encode(text).length;
}
