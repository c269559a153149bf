import { assertEquals, assertMatch } from "@std/assert";
import { Transcript, Transcripts } from "../../../lib/bridge/transcripts.ts";

const MIB = 1024 * 1024;
const NOTE = "Earlier messages are not shown here; the agent still knows them.";

/** Transcripts that nothing is known of yet, and what is shown of each. */
class Chats {
  readonly #all = new Transcripts();
  readonly #each: Transcript[] = [];

  say(chat: number, text: string, messageId = "m"): void {
    const one = this.#each[chat] ??= new Transcript(this.#all, {
      isCut: false,
    });
    one.add({ by: "user", messageId, text });
  }

  /** The texts that are shown: short ones, of others the length. */
  shown(chat: number): unknown[] {
    return (this.#each[chat]?.shown ?? []).map(({ text }) =>
      text.length > 100 ? text.length : text
    );
  }
}

Deno.test("a transcript that is cut begins with a note of the agent, under an id of its own", () => {
  const transcript = new Transcript(new Transcripts(), { isCut: true });
  transcript.add({ by: "user", messageId: "m", text: "a" });

  const [note, message] = transcript.shown;

  assertEquals([note?.by, note?.text], ["agent", NOTE]);
  assertMatch(note?.messageId ?? "", /^[0-9a-f-]{36}$/);
  assertEquals(message, { by: "user", messageId: "m", text: "a" });
  assertEquals(new Transcript(new Transcripts(), { isCut: false }).shown, []);
});

Deno.test("Transcripts keep 1 MiB of UTF-8 of each, and drop the oldest messages first", () => {
  const chats = new Chats();
  chats.say(0, "first");
  chats.say(0, "é".repeat(MIB / 2 - 100));
  chats.say(0, "x".repeat(100));
  assertEquals(chats.shown(0), ["first", MIB / 2 - 100, "x".repeat(100)]);

  chats.say(0, "y".repeat(100));
  chats.say(1, "x".repeat(MIB));
  chats.say(2, "€".repeat(MIB / 3 + 1));
  chats.say(3, "x".repeat(MIB + 1));
  chats.say(3, "last");

  const rest = [MIB / 2 - 100, "x".repeat(100), "y".repeat(100)];
  assertEquals(chats.shown(0), [NOTE, ...rest]);
  assertEquals(chats.shown(1), [MIB]);
  assertEquals(chats.shown(2), [NOTE]);
  assertEquals(chats.shown(3), [NOTE, "last"]);
});

Deno.test("Transcripts keep 16 MiB of all, and drop the oldest messages of any first", () => {
  const chats = new Chats();
  for (let i = 0; i < 16; i++) chats.say(i, "x".repeat(MIB / 2));
  for (let i = 0; i < 16; i++) chats.say(i, "y".repeat(MIB / 2));
  assertEquals(chats.shown(0), [MIB / 2, MIB / 2]);

  chats.say(16, "hello");
  chats.say(16, "x".repeat(MIB / 2));
  assertEquals(chats.shown(0), [NOTE, MIB / 2]);
  assertEquals(chats.shown(1), [NOTE, MIB / 2]);
  assertEquals(chats.shown(2), [MIB / 2, MIB / 2]);
});

Deno.test("Transcripts keep no more than some 10,000 messages of each, however short", () => {
  const chats = new Chats();
  for (let i = 0; i < 11_000; i++) chats.say(0, "");
  assertEquals(chats.shown(0).length, 1 + Math.floor(MIB / 100));
});
