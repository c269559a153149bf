import { assert, assertEquals, assertMatch } from "@std/assert";
import { clientIn } from "../../../lib/bridge/capabilities.ts";
import { Transcript, Transcripts } from "../../../lib/bridge/transcripts.ts";

const MIB = 1024 * 1024;
const NOTE = "Earlier messages are not shown here.";

// deno-lint-ignore no-explicit-any -- what a test expects, it asserts
function updates(transcript: Transcript): readonly any[] {
  return transcript.replay(clientIn(undefined));
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
  const half = "é".repeat(MIB / 2 - 1_500);
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

Deno.test("a transcript has a reply after its prompt, and first if the prompt was dropped", () => {
  const transcript = new Transcript(new Transcripts(), false);
  const prompts = ["one", "two", "x".repeat(MIB - 2_000)].map((text) => (
    { by: "user", messageId: text, text } as const
  ));
  const [one, two, three] = prompts;
  assert(one && two && three);
  const reply = (text: string) =>
    ({ by: "agent", messageId: "r", text }) as const;
  for (const prompt of [one, two]) transcript.add(prompt);
  transcript.add(reply("1"), one);
  assertEquals(texts(transcript), ["one", "1", "two"]);
  transcript.add(three);
  transcript.add(reply("2"), two);
  assertEquals(texts(transcript), [NOTE, "2", three.text.length]);
});

Deno.test("a transcript has replies in order also if their prompts were dropped while they waited", () => {
  const transcript = new Transcript(new Transcripts(), false);
  const length = 400_000;
  const prompts = ["0", "1", "2", "3"].map((messageId) => (
    { by: "user", messageId, text: "x".repeat(length) } as const
  ));
  for (const prompt of prompts) transcript.add(prompt);
  for (const prompt of prompts) {
    const text = `reply ${prompt.messageId}`;
    transcript.add({ by: "agent", messageId: "r", text }, prompt);
  }
  assertEquals(
    texts(transcript),
    [NOTE, "reply 0", "reply 1", length, "reply 2", length, "reply 3"],
  );
});

Deno.test("a transcript counts a short message as 1,500 bytes", () => {
  const transcript = new Transcript(new Transcripts(), false);
  for (let i = 0; i < 3_000; i++) say(transcript, "");
  assertEquals(texts(transcript).length, 1 + Math.floor(MIB / 1_500));
});

Deno.test("Transcripts keep 16 MiB, of those that were used last", () => {
  const all = new Transcripts();
  const chats = Array.from({ length: 18 }, () => new Transcript(all, false));
  for (const chat of chats.slice(0, 16)) say(chat, "x".repeat(MIB));
  const [first, second, third] = chats;
  assert(first && second && third);
  updates(first);
  for (const chat of chats.slice(16)) say(chat, "y");
  assertEquals([first, second, third].map(texts), [[MIB], [NOTE], [MIB]]);
  assertEquals(chats.slice(16).map(texts), [["y"], ["y"]]);
});
