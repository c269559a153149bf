import { assertEquals } from "@std/assert";
import { errorDetail } from "../../../../lib/gateway/http/error_words.ts";

const BODIES: readonly (readonly [body: unknown, reason?: string])[] = [
  [{ message: "No", error: "E" }, "No"],
  [{ error: "No", detail: "D" }, "No"],
  [{ detail: "No", title: "T" }, "No"],
  [{ error: { message: "No", code: 1 } }, "No"],
  [{ message: " ", error: true, detail: "No" }, "No"],
  [{ statusCode: 400, error: "E", message: ["No", "Nor"] }, "No, Nor"],
  [{ errors: [{ code: 1, message: "No" }, { message: "Nor" }] }, "No, Nor"],
  [{ type: "about:blank", title: "T", errors: { a: [1] } }, "T"],
  [{ detail: [{ loc: ["body"], msg: "No" }] }, "No"],
  [
    {
      detail: [
        { loc: ["body", "user_id"], msg: "Field required" },
        { loc: ["query", "tags", 0], msg: "No" },
      ],
    },
    "user_id: Field required, query.tags.0: No",
  ],
  [{ message: [], errors: [{}], error: { code: 1 } }],
  [["No"]],
  ["No"],
];

for (const [body, detail] of BODIES) {
  Deno.test(`errorDetail() of ${JSON.stringify(body)} is ${detail}`, () => {
    assertEquals(errorDetail(body), detail);
  });
}

Deno.test("errorDetail() looks at a few levels, however deep a body is nested", () => {
  const nested = (depth: number) =>
    '{"error":'.repeat(depth) + '"No"' + "}".repeat(depth);
  assertEquals(errorDetail(JSON.parse(nested(8))), "No");
  assertEquals(errorDetail(JSON.parse(nested(100_000))), undefined);
});
