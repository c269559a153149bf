import { assertEquals } from "@std/assert";
import { type Entry, InputQueue } from "../../../lib/io/input_queue.ts";
import { redacted } from "../../support/texts.ts";

/** What is done to a queue, a word each, and what its readers get. */
const SCENES = {
  "one two next next": "one two",
  "next one two next": "one two",
  "one close late next next next": "one end end",
  "next end": "end",
  "next close": "end",
  "next fail": "gone",
  "one fail next next": "one gone",
  // The number of those that were dropped
  "one two end drop three next": "2 three",
  "one end close end drop late next": "1 end",
  "end reopen one next": "one",
  "one two last next": "two one",
};

/** Plays a scene. The entry "two" is one that was rejected. */
async function play(scene: string): Promise<string> {
  const queue = new InputQueue();
  const got: Promise<string>[] = [];
  const nameOf = (entry: Entry | undefined) =>
    entry?.kind === "text" ? entry.text : `${entry?.reason}`;
  for (const word of scene.split(" ")) {
    const ends = queue.hasEnded;
    switch (word) {
      case "next":
        got.push(
          queue.next().then(
            (input) => input.kind === "end" ? "end" : nameOf(input),
            (error) => error.message,
          ),
        );
        break;
      case "end":
      case "close":
      case "reopen":
        queue[word]();
        assertEquals(queue.hasEnded, word !== "reopen");
        break;
      case "fail":
        queue.fail(new Error("gone"));
        break;
      case "drop":
        got.push(Promise.resolve(`${queue.dropWaiting()}`));
        break;
      case "last":
        got.push(Promise.resolve(nameOf(queue.takeLast())));
        break;
      default: {
        const { length } = queue.waiting;
        const isAwaited = queue.isAwaited;
        queue.add(
          word === "two"
            ? { kind: "refused", reason: redacted(word) }
            : { kind: "text", text: word },
        );
        const isKept = !isAwaited && !ends;
        assertEquals(queue.waiting.length, length + Number(isKept));
        assertEquals(queue.isAwaited, false);
      }
    }
  }
  return (await Promise.all(got)).join(" ");
}

for (const [scene, told] of Object.entries(SCENES)) {
  Deno.test(`InputQueue: ${scene}: readers get ${told}`, async () => {
    assertEquals(await play(scene), told);
  });
}
