import { assertEquals } from "@std/assert";
import {
  pauseLabel,
  pauseSentence,
} from "../../../../../lib/gateway/failure/words/pause_words.ts";

Deno.test("pauseLabel() and pauseSentence() say why there is a pause, and how long it is in whole seconds", () => {
  assertEquals(
    pauseLabel("service busy", 5_100),
    "service busy, again in 6 s",
  );
  assertEquals(pauseLabel("stream ended", 2_000), "stream ended, again in 2 s");
  assertEquals(
    pauseSentence("service busy", 5_100),
    "The service is busy; again in 6 s",
  );
  assertEquals(
    pauseSentence("too many open files", 65_000),
    "Too many files are open; again in 1 min 5 s",
  );
});
