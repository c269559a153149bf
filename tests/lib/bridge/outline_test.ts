import { assert, assertEquals } from "@std/assert";
import { Outline } from "../../../lib/bridge/outline.ts";
import { type Incoming, readMessages } from "../../../lib/bridge/json_rpc.ts";
import fc, { anyCodePoint } from "../../support/generated.ts";
import { times } from "../../support/repetitions.ts";

const encoder = new TextEncoder();
const LIMIT = 16 * 1024 * 1024;

function outlineOf(...parts: readonly string[]): string {
  const outline = new Outline();
  for (const part of parts) outline.add(encoder.encode(part));
  return outline.take();
}

Deno.test("an outline holds the top level of a line, wherever it is cut", () => {
  const long = "x".repeat(5_000);
  for (
    const [line, expected] of [
      ['{"id":1,"params":{"id":[2]}}', '{"id":1,"params":{}}'],
      [`{"a":"${long}","id":"}\\""}`, '{"a":{},"id":"}\\""}'],
      [`{"params":"\\\\","id":3}`, `{"params":"\\\\","id":3}`],
    ] as const
  ) {
    assertEquals(outlineOf(line), expected);
    assertEquals(outlineOf(...line), expected);
  }
});

/** What becomes of a line of these members, which begins over the limit of structure. */
async function refusedMessage(line: Uint8Array): Promise<Incoming[]> {
  return await Array.fromAsync(readMessages(ReadableStream.from([line])));
}

/** A value of more than 250,000 commas. */
const LARGE = `[${"1,".repeat(260_000)}1]`;

const ID = fc.oneof(
  fc.constantFrom("1", "null", '"\\u0022}"', '"a\\\\"', "-1.5e3", "{}", "true"),
  fc.string({ unit: anyCodePoint, maxLength: 20 }).map((id) =>
    JSON.stringify(id)
  ),
);
const MEMBER = fc.oneof(
  ID.map((id) => `"id":${id}`),
  ID.map((id) => `"i\\u0064":${id}`),
  fc.constantFrom('"method":"session/prompt"', '"method":"x"', '"result":[]'),
  fc.json().map((json) => `"params":{"id":7,"method":"y","more":${json}}`),
);

Deno.test("a line that cannot be taken is answered under its own id or under null, never under another one's", async () => {
  const property = fc.property(
    fc.array(MEMBER, { maxLength: 6 }),
    fc.nat(6),
    fc.nat(10_000),
    (members, place, cut) => {
      const whole = `{${members.toSpliced(place, 0, '"large":[]').join(",")}}`;
      const outline = outlineOf(whole);
      assertEquals(JSON.parse(outline).id, withoutDepth(JSON.parse(whole).id));
      const part = outlineOf(whole.slice(0, cut % whole.length));
      assertEquals(part.startsWith("{"), part !== "");
      try {
        JSON.parse(part);
      } catch {
        return;
      }
      throw new Error(`an outline of a cut line is JSON: ${part}`);
    },
  );
  fc.assert(property, { numRuns: times(200_000) });

  for (const method of ["session/prompt", "session/new"]) {
    const words = method === "session/prompt" ? "prompt" : "line";
    for (
      const [parts, fault] of [
        [[`"params":"${"x".repeat(LIMIT)}"`], "is larger than 16 MiB"],
        [
          [`"params":${LARGE}`],
          "contains more than 250000 brackets, commas and colons",
        ],
        [['"params":"\xff"'], "is not UTF-8"],
      ] as const
    ) {
      const members = [`"id":"a\\n"`, `"method":"${method}"`, ...parts];
      for (const ordered of [members, members.toReversed()]) {
        const text = `{${ordered.join(",")}}\n{"method":"after"}`;
        const bytes = fault === "is not UTF-8"
          ? Uint8Array.from(text, (character) => character.charCodeAt(0))
          : encoder.encode(text);
        const [message, after] = await refusedMessage(bytes);
        if (message?.kind !== "invalid") throw new Error("It was taken");
        assertEquals([message.id, message.error.code, message.error.message], [
          ...["a\n", -32600, `Invalid request: the ${words} ${fault}`],
        ]);
        assertEquals(after?.kind, "notification");
      }
    }
  }
});

/** A nested value as an outline shows it. */
function withoutDepth(value: unknown): unknown {
  return Array.isArray(value) ? [] : value;
}

Deno.test("of a line that cannot be taken, a notification is skipped, and a response keeps its id", async () => {
  const lines = [
    `{"method":"session/cancel","params":${LARGE}}`,
    `{"result":{"content":"${"x".repeat(LIMIT)}"},"id":3}`,
    `[${LARGE}]`,
  ];
  const messages = await refusedMessage(encoder.encode(lines.join("\n")));
  assertEquals(
    messages.map((message) =>
      message.kind === "response"
        ? [message.id, message.fault]
        : message.kind === "invalid" && [message.id, message.error.message]
    ),
    [
      [3, "too long"],
      [
        null,
        "Invalid request: the line contains more than 250000 brackets, commas and colons",
      ],
    ],
  );
});

Deno.test("an id with a broken byte is answered under null", async () => {
  const bytes = Uint8Array.from(
    '{"id":"a\xff","method":"session/prompt"}',
    (character) => character.charCodeAt(0),
  );
  const [message] = await refusedMessage(bytes);
  assertEquals(message?.kind === "invalid" && message.id, null);
});

Deno.test("a line that is not UTF-8 is not JSON either, unless its bad byte is in a string", async () => {
  const line = '{"id":"a","method":"session/prompt","params":{"x":["y",1]}}';
  for (let at = 0; at <= line.length; at++) {
    const before = line.slice(0, at);
    const bytes = Uint8Array.of(
      ...encoder.encode(before),
      0xff,
      ...encoder.encode(line.slice(at)),
    );
    const [message] = await refusedMessage(bytes);
    const error = message?.kind === "invalid"
      ? [message.id, message.error.code]
      : undefined;
    const isInString = before.split('"').length % 2 === 0;
    if (!isInString) assertEquals(error, [null, -32700], before);
    else if (/"(method|x)":.*"/.test(before)) {
      assertEquals(error, ["a", -32600], before);
    } else assert(error?.[1] !== -32700, before);
  }
});
