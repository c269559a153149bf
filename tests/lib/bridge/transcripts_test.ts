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

Deno.test("a transcript has a reply after its prompt, and before the later ones if that was dropped", () => {
  const transcript = new Transcript(new Transcripts(), false);
  const prompt = (text: string) =>
    transcript.add({ by: "user", messageId: "p", text });
  const reply = (text: string, turn: number) =>
    transcript.add({ by: "agent", messageId: "r", text }, turn);
  const [one, two] = [prompt("one"), prompt("two")];
  reply("1", one);
  assertEquals(texts(transcript), ["one", "1", "two"]);

  const long = "x".repeat(400_000);
  const [three, four] = [prompt(long), prompt(long)];
  const five = prompt(long); // drops all but the last two
  for (const turn of [two, three, four, five]) reply(`${turn}`, turn);
  assertEquals(
    texts(transcript),
    [NOTE, "2", "3", long.length, "4", long.length, "5"],
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
