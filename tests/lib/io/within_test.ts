import { assertEquals, assertRejects } from "@std/assert";
import { within } from "../../../lib/io/within.ts";

Deno.test("within() yields the result in time, and else what is late", async () => {
  const never = new Promise<string>(() => {});
  assertEquals(await within(60_000, Promise.resolve("a"), () => "late"), "a");
  assertEquals(await within(1, never, () => "late"), "late");
  await assertRejects(
    () =>
      within(1, never, () => {
        throw new Error("late");
      }),
    Error,
    "late",
  );
});
