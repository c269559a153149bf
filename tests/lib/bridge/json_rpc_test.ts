import { assert, assertEquals, assertNotMatch } from "@std/assert";
import fc from "fast-check";
import {
  formatMessage,
  type Incoming,
  type Outgoing,
  readMessages,
  RpcError,
} from "../../../lib/bridge/json_rpc.ts";

/** The bytes of a text, in one piece. */
function* bytes(text: string): Generator<Uint8Array> {
  yield new TextEncoder().encode(text);
}

/** The messages that `readMessages()` yields for bytes; errors as they are sent. */
async function read(
  chunks: Iterable<Uint8Array>,
  options?: { readonly maxLineBytes: number },
): Promise<unknown[]> {
  const source = ReadableStream.from(chunks);
  const messages = await Array.fromAsync(readMessages(source, options));
  return messages.map((message) =>
    message.kind === "invalid"
      ? { ...message, error: message.error.toObject() }
      : message
  );
}

function invalid(code: number, message: string, id: unknown = null): unknown {
  return { kind: "invalid", id, error: { code, message } };
}

const request = (
  id: unknown,
  method = "m",
  params: unknown = undefined,
) => ({
  kind: "request",
  id,
  method,
  params,
});
const response = (
  id: unknown,
  result: unknown,
  error: unknown = undefined,
) => ({ kind: "response", id, result, error });
const NOT_JSON = invalid(-32700, "Parse error: the line is not valid JSON");
const NO_OBJECT = "Invalid request: the line is not a JSON object";
const BATCH = "Invalid request: batches are not supported";
const BAD_METHOD = "Invalid request: method is not a string";
const BAD_ID = "Invalid request: id is not a string, a number or null";

const LINES: readonly (readonly [line: string, expected: unknown])[] = [
  // Requests
  [
    '{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[1]}}',
    request(1, "m", { a: [1] }),
  ],
  ['{"id":1,"method":"m"}', request(1)],
  ['{"jsonrpc":"1.0","id":1,"method":"m","extra":true}', request(1)],
  ['{"id":1,"method":"m","params":[1]}', request(1, "m", [1])],
  ['{"id":1,"method":"m","params":null}', request(1, "m", null)],
  ['{"id":1,"method":"m","params":"text"}', request(1, "m", "text")],
  ['{"id":1,"method":"m","result":1,"error":2}', request(1)],
  ['{"id":1,"method":""}', request(1, "")],
  ['{"id":1,"method":"a","method":"b"}', request(1, "b")],
  [' \t{"id":1,"method":"m"} \r', request(1)],
  ['{"id":"a","method":"m"}', request("a")],
  ['{"id":"","method":"m"}', request("")],
  ['{"id":"\\ud800","method":"m"}', request("\ud800")],
  ['{"id":null,"method":"m"}', request(null)],
  ['{"id":0,"method":"m"}', request(0)],
  ['{"id":-7,"method":"m"}', request(-7)],
  ['{"id":1.5,"method":"m"}', request(1.5)],
  ['{"id":9007199254740993,"method":"m"}', request(9007199254740993n)],
  [
    '{"id" : -9223372036854775808,"method":"m"}',
    request(-9223372036854775808n),
  ],
  ['{"id":1,"id":9007199254740993,"method":"m"}', request(9007199254740993n)],
  ['{"id":9007199254740993,"id":1,"method":"m"}', request(1)],
  ['{"\\u0069d":9007199254740993,"method":"m"}', request(9007199254740993n)],
  [
    `{"id":${"7".repeat(1000)},"method":"m"}`,
    request(BigInt("7".repeat(1000))),
  ],
  ['{"id":1e21,"method":"m"}', request(1e21)],
  ['{"id":12345678901234567.5,"method":"m"}', request(12345678901234568)],
  // Notifications
  ['{"method":"m","params":{"a":1}}', {
    kind: "notification",
    method: "m",
    params: { a: 1 },
  }],
  [
    '{"method":"m","params":{"requestId":9007199254740993}}',
    {
      kind: "notification",
      method: "m",
      params: { requestId: 9007199254740993n },
    },
  ],
  [
    '{"params":{"id":9007199254740993,"requestId":[9007199254740993]},"method":"m"}',
    {
      kind: "notification",
      method: "m",
      params: { id: 9007199254740992, requestId: [9007199254740992] },
    },
  ],
  ['{"jsonrpc":1,"method":"m"}', {
    kind: "notification",
    method: "m",
    params: undefined,
  }],
  // Responses
  ['{"id":1,"result":{"a":1}}', response(1, { a: 1 })],
  ['{"jsonrpc":"2.0","id":1,"result":null}', response(1, null)],
  ['{"id":1,"error":{"code":1}}', response(1, undefined, { code: 1 })],
  ['{"id":[],"result":1,"error":2}', response([], 1, 2)],
  ['{"result":null}', response(undefined, null)],
  // Neither
  ["nope", NOT_JSON],
  ["{", NOT_JSON],
  ['{"id":1,"method":"m"} {"id":2,"method":"m"}', NOT_JSON],
  ["{'id':1}", NOT_JSON],
  ["\0", NOT_JSON],
  ['"text"', invalid(-32600, NO_OBJECT)],
  ["1", invalid(-32600, NO_OBJECT)],
  ["null", invalid(-32600, NO_OBJECT)],
  ["[]", invalid(-32600, BATCH)],
  ['[{"id":1,"method":"m"}]', invalid(-32600, BATCH)],
  ["{}", invalid(-32600, BAD_METHOD)],
  ['{"id":3}', invalid(-32600, BAD_METHOD, 3)],
  ['{"id":null,"params":{}}', invalid(-32600, BAD_METHOD)],
  ['{"id":"a","method":1}', invalid(-32600, BAD_METHOD, "a")],
  ['{"id":"a","method":null,"result":1}', invalid(-32600, BAD_METHOD, "a")],
  ['{"id":9007199254740993}', invalid(-32600, BAD_METHOD, 9007199254740993n)],
  ['{"id":{},"method":1}', invalid(-32600, BAD_METHOD)],
  ['{"method":["m"]}', invalid(-32600, BAD_METHOD)],
  ['{"id":true,"method":"m"}', invalid(-32600, BAD_ID)],
  ['{"id":{},"method":"m"}', invalid(-32600, BAD_ID)],
  ['{"id":[1],"method":"m"}', invalid(-32600, BAD_ID)],
  ['{"id":1e999,"method":"m"}', invalid(-32600, BAD_ID)],
  [
    `{"id":${"7".repeat(1001)},"method":"m"}`,
    invalid(-32600, BAD_ID),
  ],
];
for (const [line, expected] of LINES) {
  Deno.test(`readMessages() reads ${JSON.stringify(line).slice(0, 80)} (interface 4.2, 7)`, async () => {
    assertEquals(await read(bytes(`${line}\n`)), [expected]);
  });
}

Deno.test("readMessages() skips blank lines, a byte order mark and `\\r`", async () => {
  const text = '\ufeff\n  \n\t\r\n{"id":1,"method":"m"}\r\n\n\n';

  assertEquals(await read(bytes(text)), [request(1)]);
});

Deno.test("readMessages() reads a last line without its end, and no line at all", async () => {
  assertEquals(await read(bytes('{"id":1,"method":"m"}')), [request(1)]);
  assertEquals(await read(bytes("")), []);
  assertEquals(await read([]), []);
});

const DEEP = [
  ["[", "]"],
  ['{"a":', "}"],
  ['[{"id":9007199254740993,"params":', "}]"],
] as const;
for (const depth of [50_000, 100_000]) {
  for (const [open, close] of DEEP) {
    Deno.test(`readMessages() reads an id of 16 digits next to ${depth} levels of ${open} (interface 7)`, async () => {
      const deep = `${open.repeat(depth)}0${close.repeat(depth)}`;
      const id = '"id":9007199254740993';
      const cancel = '"params":{"requestId":9007199254740995,"x":';

      const messages = await Array.fromAsync(readMessages(ReadableStream.from(
        bytes([
          `{${id},"method":"m","params":${deep}}`,
          `{"method":"m","params":${deep},${id}}`,
          `{${cancel}${deep}},"method":"m"}`,
        ].join("\n")),
      )));

      assertEquals(
        messages.map((message) => "id" in message ? message.id : undefined),
        [9007199254740993n, 9007199254740993n, undefined],
      );
      const [, , last] = messages;
      assert(last?.kind === "notification");
      const { requestId } = last.params as { requestId: unknown };
      assertEquals(requestId, 9007199254740995n);
    });
  }
}

Deno.test("readMessages() refuses a line over the limit and reads on", async () => {
  const line = '{"id":1,"method":"m"}';
  const tooLong = invalid(
    -32600,
    `Invalid request: the line is longer than ${line.length} bytes`,
  );

  const messages = await read(
    bytes(`${line}\n ${line}\n${line}\n${line.repeat(9)}`),
    { maxLineBytes: line.length },
  );

  assertEquals(messages, [request(1), tooLong, request(1), tooLong]);
});

Deno.test("readMessages() reads the same however the bytes are cut", async () => {
  const text = new TextEncoder().encode(
    `${LINES.map(([line]) => line).join("\n")}\n{"id":"é😀","method":"ü"}`,
  );
  const whole = await read([text]);

  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(text.length), { maxLength: 60 }),
      async (cuts) => {
        const ends = [0, ...cuts.toSorted((a, b) => a - b), text.length];
        const chunks = ends.slice(1).map((end, i) => text.slice(ends[i], end));
        assertEquals(await read(chunks), whole);
      },
    ),
    { numRuns: 50 },
  );
});

const OUTGOING: readonly (readonly [message: Outgoing, line: string])[] = [
  [{ id: 1, result: {} }, '{"jsonrpc":"2.0","id":1,"result":{}}'],
  [
    { id: "\ud800", result: null },
    '{"jsonrpc":"2.0","id":"\\ud800","result":null}',
  ],
  [
    { id: 9007199254740993n, result: {} },
    '{"jsonrpc":"2.0","id":9007199254740993,"result":{}}',
  ],
  [
    { id: null, error: new RpcError(-32700, "Why").toObject() },
    '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Why"}}',
  ],
  [
    { id: 1, error: new RpcError(-1, "Why", { data: { a: 1 } }).toObject() },
    '{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"Why","data":{"a":1}}}',
  ],
  [
    { id: 1, method: "m", params: {} },
    '{"jsonrpc":"2.0","id":1,"method":"m","params":{}}',
  ],
  [
    { method: "m", params: { a: 1 } },
    '{"jsonrpc":"2.0","method":"m","params":{"a":1}}',
  ],
];
for (const [message, line] of OUTGOING) {
  Deno.test(`formatMessage() writes ${line}`, () => {
    assertEquals(formatMessage(message), `${line}\n`);
  });
}

/** Any text, lone surrogates included. */
const anyText = fc.array(fc.nat(0x10ffff))
  .map((points) => String.fromCodePoint(...points));

Deno.test("formatMessage() writes one line, whatever the text", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const line = formatMessage({ method: "m", params: { text } });

      assertEquals(JSON.parse(line).params.text, text);
      assertNotMatch(line.slice(0, -1), /[\n\r]/);
    }),
  );
});

Deno.test("an id comes back as it was sent, all 64 bits of it (interface 7)", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.bigInt(-(2n ** 63n), 2n ** 64n - 1n).map(String),
        anyText.map((id) => JSON.stringify(id)),
      ),
      async (id) => {
        const source = ReadableStream.from(bytes(`{"id":${id},"method":"m"}`));
        const [message] = await Array.fromAsync<Incoming>(readMessages(source));
        if (message?.kind !== "request") throw new Error("It is no request");

        const line = formatMessage({ id: message.id, result: {} });

        assertEquals(line, `{"jsonrpc":"2.0","id":${id},"result":{}}\n`);
      },
    ),
  );
});
