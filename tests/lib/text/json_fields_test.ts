import { assertEquals } from "@std/assert";
import { textIn } from "../../../lib/text.ts";

Deno.test("textIn() looks at each object once, and at nothing else", () => {
  let looks = 0;
  const accepts = () => ++looks > 0;
  const names = ["a", "b", "c"];
  const value = { a: { b: 1 }, b: [{}, { c: null }], c: { a: "text" } };
  assertEquals(textIn(value, { names, separator: "", accepts }), "text");
  assertEquals(looks, 5);
});
