import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { readText } from "../../../lib/io/read_text.ts";
import { testRows } from "../../support/tables.ts";

testRows(
  "readText() of at most two bytes reads {what}",
  "what | chunks | text | cut",
  `
all of it                      | ab       | ab  |
no more than the limit         | ab/c     | ab  | cut
a part of a chunk              | abc      | ab  | cut
a character across chunks      | \xc3/\xbc | ü   |
a character cut at the limit   | a\xc3\xbc | a   | cut
a character cut at the end     | a\xc3    | a\ufffd |
nothing of an empty body       |          |     |
`,
  async ({ chunks, text, cut }) => {
    const bytes = chunks.split("/").map((it) => Buffer.from(it, "latin1"));
    const read = await readText(ReadableStream.from(bytes), { maxBytes: 2 });
    assertEquals(read, { text, isCut: cut !== "" });
  },
);
