import { assertEquals } from "@std/assert";
import { around, draw } from "../../../../lib/gateway/http/retries.ts";

/** The least and the most of a pause that is asked for, in seconds. */
const ASKED = {
  "1": [1, 3],
  "5": [5, 7],
  "12": [12, 15],
  "28": [28, 33],
};

Deno.test("a pause that the service asks for is never shorter, and up to a quarter longer, between 2 and 5 s", () => {
  const { random } = Math;
  try {
    for (const [asked, range] of Object.entries(ASKED)) {
      const drawn = [0, 1].map((chance) => {
        Math.random = () => chance;
        return draw(around(1_000), Number(asked) * 1_000) / 1_000;
      });
      assertEquals(drawn[1], range[1]);
      assertEquals(drawn[0], range[0]);
    }
  } finally {
    Math.random = random;
  }
});
