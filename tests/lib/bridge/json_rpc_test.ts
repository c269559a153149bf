import { assert, assertEquals } from "@std/assert";
import { readMessages } from "../../../lib/bridge/json_rpc.ts";

const encoder = new TextEncoder();

/** The messages that `readMessages()` yields for a text; errors as they are sent. */
async function read(text: string): Promise<unknown[]> {
  const source = ReadableStream.from([encoder.encode(text)]);
  const messages = await Array.fromAsync(readMessages(source));
  return messages.map((message) =>
    message.kind === "invalid"
      ? invalid(message.error.code, message.error.message, message.id)
      : message
  );
}

const method = "m";
const request = (id: unknown, params?: unknown) => (
  { kind: "request", id, method, params }
);
const notification = (params: unknown) => (
  { kind: "notification", method, params }
);
const response = (id: unknown, result?: unknown, error?: unknown) => (
  { kind: "response", id, result, error }
);
const invalid = (code: number, message: string, id: unknown = null) => (
  { kind: "invalid", id, error: { code, message } }
);
const NOT_JSON = invalid(-32700, "Parse error: the line is not valid JSON");
const NO_OBJECT = invalid(
  -32600,
  "Invalid request: the line is not a JSON object",
);
const BAD_ID = invalid(
  -32600,
  "Invalid request: id is not a string, a number or null",
);
const badMethod = (id?: unknown) =>
  invalid(-32600, "Invalid request: method is not a string", id);

/** Ids as JSON, and as they are read; of an invalid id, `undefined`. */
const IDS: readonly (readonly [json: string, id: unknown])[] = [
  ...[["null", null], ["1.5", 1.5], ['7,"id":1', 1]] as const,
  ["9007199254740993", 9007199254740992], // as JavaScript reads it
  ...["true", "{}", "[1]", "1e999"].map((json) => [json, undefined] as const),
];

const LINES: readonly (readonly [line: string, expected: unknown])[] = [
  ...IDS.map(([json, id]) =>
    [
      `{"id":${json},"method":"m"}`,
      id === undefined ? BAD_ID : request(id),
    ] as const
  ),
  ['{"\\u0069d":1,"method":"m"}', request(1)],
  ['{"jsonrpc":"1.0","id":1,"method":"m","extra":true}', request(1)],
  ['{"id":1,"method":"m","params":[1]}', request(1, [1])],
  ['{"id":1,"method":"m","params":"text"}', request(1, "text")],
  ['{"id":1,"method":"m","result":1,"error":2}', request(1)],
  [' \t{"id":1,"method":"m"} \r', request(1)],
  ['{"method":"m","params":{"a":1}}', notification({ a: 1 })],
  ['{"params":{"id":1},"method":"m"}', notification({ id: 1 })],
  ['{"id":1,"result":{"a":1}}', response(1, { a: 1 })],
  ['{"id":1,"error":{"code":1}}', response(1, undefined, { code: 1 })],
  ['{"id":[],"result":1,"error":2}', response([], 1, 2)],
  ['{"id":1,"result":1,"error":null}', response(1, 1)],
  ['{"result":null}', response(undefined, null)],
  ...["nope", "{", '{"id":1,"method":"m"} {}', "{'id':1}", "\0"]
    .map((line) => [line, NOT_JSON] as const),
  ...['"text"', "1", "null"].map((line) => [line, NO_OBJECT] as const),
  ...["[]", '[{"id":1,"method":"m"}]'].map((line) =>
    [line, NO_OBJECT] as const
  ),
  ...["{}", '{"id":null,"params":{}}', '{"id":{},"method":1}', '{"method":[]}']
    .map((line) => [line, badMethod()] as const),
  ['{"id":3}', badMethod(3)],
  ['{"id":"a","method":1}', badMethod("a")],
  ['{"id":"a","method":null,"result":1}', badMethod("a")],
];
Deno.test("readMessages() tells requests, notifications, responses and invalid lines apart (interface 4.2, 7)", async () => {
  for (const [line, expected] of LINES) {
    assertEquals(await read(`${line}\n`), [expected], line);
  }
});

Deno.test("readMessages() skips blank lines, a byte order mark and `\\r`, and reads a last line without its end", async () => {
  const text =
    '\ufeff\n  \n\t\r\n{"id":1,"method":"m"}\r\n\n{"id":2,"method":"m"}';
  assertEquals(await read(text), [request(1), request(2)]);
  assertEquals(await read(""), []);
});

Deno.test("readMessages() reads a line with 80,000 levels (interface 7)", async () => {
  for (const [open, close] of [["[", "]"], ['{"a":', "}"]] as const) {
    const deep = `${open.repeat(80_000)}0${close.repeat(80_000)}`;
    const line = `{"id":9007199254740993,"method":"m","params":${deep}}`;
    const [call] = await Array.fromAsync(
      readMessages(ReadableStream.from([encoder.encode(line)])),
    );
    assert(call?.kind === "request");
    assertEquals(call.id, 9007199254740992); // as JavaScript reads it
  }
});

/** Starts of lines that cannot be taken, and the ids of their errors. */
const REFUSED: Readonly<Record<string, unknown>> = {
  '{"jsonrpc":"2.0","id":7,"method":"m","params":': 7,
  '{"id" : "a\\"b" , "method":"m","params":': 'a"b',
  '{"method":"m","id":-1.5e3,"params":': -1500,
  '{"method":"m","id":9007199254740993,"params":': 9007199254740992,
  '{"id":null,"method":"m","params":': null,
  '{"id":1e999,"method":"m","params":': null,
  '{"method":"m","params":{"id":1,"rest":': null,
  '{"method":"m","no":"\\"id\\":1,","params":': null,
  [`{"method":"m","no":"${"x".repeat(1000)}","id":1,"params":`]: null,
};
Deno.test("readMessages() takes the id of a line that cannot be taken from its first KiB, before the params", async () => {
  const signs = `[${"0,".repeat(250_001)}0]}`;
  const reason = "contains more than 250000 brackets, commas and colons";
  for (const [start, id] of Object.entries(REFUSED)) {
    assertEquals(await read(`${start}${signs}`), [
      invalid(-32600, `Invalid request: the line ${reason}`, id),
    ], start);
  }
  for (const start of ['{"id":1,"result":', '{"id":1,"error":{"method":']) {
    assertEquals(await read(`${start}${signs}`), [
      { ...response(1), fault: "too many parts" },
    ], start);
  }
});

Deno.test("readMessages() refuses a prompt that is too large or not UTF-8, and reads on", async () => {
  const prompt = '{"id":1,"method":"session/prompt","params":"';
  const bad = [0xff, ...encoder.encode('"}\n')];
  const lines = [
    ...[encoder.encode(prompt), new Uint8Array(16 * 1024 * 1024)],
    ...[encoder.encode(`\n${prompt}`), Uint8Array.from(bad)],
    ...[encoder.encode('{"id":"'), Uint8Array.from(bad)],
    Uint8Array.from([0xff, 0x0a]),
    encoder.encode('{"id":2,"method":"m"}'),
  ];
  const messages = await Array.fromAsync(
    readMessages(ReadableStream.from(lines)),
    (message) =>
      message.kind === "invalid"
        ? [message.id, message.error.message]
        : message.kind,
  );
  assertEquals(messages, [
    [1, "Invalid request: the prompt is larger than 16 MiB"],
    [1, "Invalid request: the prompt is not UTF-8"],
    ["\ufffd", "Invalid request: the line is not UTF-8"],
    [null, "Parse error: the line is not valid JSON"],
    "request",
  ]);
});
