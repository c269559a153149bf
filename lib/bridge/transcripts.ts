/**
 * What was said in the sessions, for editors that load a session again. It is
 * kept in memory alone.
 *
 * @module
 */

import { messageLine, type Said } from "./session_updates.ts";

/** The most of one transcript that is kept, in bytes of UTF-8. */
const MAX_BYTES = 1024 * 1024;

/** The most of all transcripts together. */
const MAX_TOTAL_BYTES = 16 * MAX_BYTES;

/** The bytes that a shorter message counts as: it takes about as much memory. */
const MIN_BYTES = 100;

/** Shown in place of messages that are not known. */
const EARLIER =
  "Earlier messages are not shown here; the agent still knows them.";

interface Kept {
  readonly said: Said;
  readonly bytes: number;
  readonly transcript: Transcript;
}

/** What is known of a conversation. {@linkcode Transcripts} alone changes its fields. */
export class Transcript {
  readonly #all: Transcripts;
  /** Whether earlier messages are unknown, or were dropped. */
  isCut: boolean;
  /** The oldest first. */
  readonly kept = new Set<Kept>();
  bytes = 0;

  constructor(all: Transcripts, { isCut }: { readonly isCut: boolean }) {
    this.#all = all;
    this.isCut = isCut;
  }

  /** Adds a message. */
  add(said: Said): void {
    this.#all.add(this, said);
  }

  /** What an editor shows of it: the messages, after a note if it is cut. */
  get shown(): readonly Said[] {
    const messages = Array.from(this.kept, ({ said }) => said);
    if (!this.isCut) return messages;
    const messageId = crypto.randomUUID();
    return [{ by: "agent", messageId, text: EARLIER }, ...messages];
  }

  /** The notifications that show it in a session, one line each. */
  lines(sessionId: string): Iterable<string> {
    return this.shown.values().map((said) => messageLine(sessionId, said));
  }
}

/**
 * The transcripts of all sessions: at most 1 MiB of UTF-8 of each and 16 MiB of
 * all. The oldest messages are dropped first.
 */
export class Transcripts {
  /** The messages of all transcripts, the oldest first. */
  readonly #kept = new Set<Kept>();
  #bytes = 0;

  /** Adds a message, and drops the oldest ones beyond the limits. */
  add(transcript: Transcript, said: Said): void {
    const bytes = Math.max(MIN_BYTES, byteLength(said.text));
    const kept = { said, bytes, transcript };
    for (const each of [this.#kept, transcript.kept]) each.add(kept);
    this.#bytes += bytes;
    transcript.bytes += bytes;
    this.#dropFrom(transcript.kept, () => transcript.bytes > MAX_BYTES);
    this.#dropFrom(this.#kept, () => this.#bytes > MAX_TOTAL_BYTES);
  }

  #dropFrom(all: ReadonlySet<Kept>, isTooMuch: () => boolean): void {
    for (const kept of all) {
      if (!isTooMuch()) return;
      const { transcript, bytes } = kept;
      for (const each of [this.#kept, transcript.kept]) each.delete(kept);
      this.#bytes -= bytes;
      transcript.bytes -= bytes;
      transcript.isCut = true;
    }
  }
}

/** The length of a text in UTF-8; of one that is too long anyway, a lower bound. */
function byteLength(text: string): number {
  return text.length > MAX_BYTES
    ? text.length
    : new TextEncoder().encode(text).length;
}
