import { assertEquals, assertMatch } from "@std/assert";
import { Transcript, Transcripts } from "../../../lib/bridge/transcripts.ts";

const MIB = 1024 * 1024;
const NOTE = "Earlier messages are not shown here.";

// deno-lint-ignore no-explicit-any -- what a test expects, it asserts
function updates(transcript: Transcript): readonly any[] {
  return transcript.updates({ showsNotices: false });
}

/** The texts of a transcript: short ones, of others the length. */
function texts(transcript: Transcript): readonly unknown[] {
  return updates(transcript).map(({ content: { text } }) =>
    text.length > 100 ? text.length : text
  );
}

function say(transcript: Transcript, ...texts: readonly string[]): void {
  for (const text of texts) {
    transcript.add({ by: "user", messageId: "m", text });
  }
}

Deno.test("a transcript that is cut begins with a note of the agent, under an id of its own", () => {
  const transcript = new Transcript(new Transcripts(), true);
  say(transcript, "a");

  const [note, message] = updates(transcript);

  assertEquals(note.sessionUpdate, "agent_message_chunk");
  assertEquals(note.content.text, NOTE);
  assertMatch(note.messageId, /^[0-9a-f-]{36}$/);
  assertEquals(message.sessionUpdate, "user_message_chunk");
  assertEquals([message.messageId, message.content.text], ["m", "a"]);
  assertEquals(texts(new Transcript(new Transcripts(), false)), []);
});

Deno.test("a transcript keeps 1 MiB of UTF-8, and drops the oldest messages first", () => {
  const half = "é".repeat(MIB / 2 - 100);
  const [x, y] = ["x".repeat(100), "y".repeat(100)];
  const transcript = new Transcript(new Transcripts(), false);
  say(transcript, "first", half, x);
  assertEquals(texts(transcript), ["first", half.length, x]);
  say(transcript, y);
  assertEquals(texts(transcript), [NOTE, half.length, x, y]);

  const whole = new Transcript(new Transcripts(), false);
  say(whole, "x".repeat(MIB));
  assertEquals(texts(whole), [MIB]);
  for (const tooLong of ["€".repeat(MIB / 3 + 1), "x".repeat(MIB + 1)]) {
    say(whole, tooLong, "last");
    assertEquals(texts(whole), [NOTE, "last"]);
  }
});

Deno.test("a transcript keeps no more than some 10,000 messages, however short", () => {
  const transcript = new Transcript(new Transcripts(), false);
  for (let i = 0; i < 11_000; i++) say(transcript, "");
  assertEquals(texts(transcript).length, 1 + Math.floor(MIB / 100));
});

Deno.test("Transcripts keep the 100 in which something was said last", () => {
  const all = new Transcripts();
  const chats = Array.from({ length: 101 }, () => new Transcript(all, false));
  for (const chat of chats.slice(0, 100)) say(chat, "a");
  say(...chats.slice(0, 1) as [Transcript], "b");
  say(...chats.slice(100) as [Transcript], "c");

  const shown = chats.map(texts);
  assertEquals([shown[0], shown[1], shown[2], shown[100]], [
    ...[["a", "b"], [NOTE], ["a"], ["c"]],
  ]);
});
