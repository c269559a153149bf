import { assert, assertEquals } from "@std/assert";
import { type Incoming, readMessages } from "../../../lib/bridge/json_rpc.ts";

const encoder = new TextEncoder();

/** The messages in chunks, in short. */
async function read(
  ...chunks: readonly (string | Uint8Array)[]
): Promise<readonly string[]> {
  const bytes = chunks.map((chunk) =>
    typeof chunk === "string" ? encoder.encode(chunk) : chunk
  );
  const source = ReadableStream.from(bytes);
  return await Array.fromAsync(readMessages(source), shown);
}

function shown(message: Incoming): string {
  const { kind, ...members } = message;
  if (kind !== "invalid") return `${kind} ${JSON.stringify(members)}`;
  const { id, error } = message;
  return `${JSON.stringify(id)} ${error.code} ${error.message}`;
}

/** Lines, each with the message that it is. */
const LINES = String.raw`
{"id":1,"method":"m"} => request {"id":1,"method":"m"}
{"id":null,"method":"m"} => request {"id":null,"method":"m"}
{"id":"","method":"m"} => request {"id":"","method":"m"}
{"id":1.5,"method":"m"} => request {"id":1.5,"method":"m"}
{"id":7,"id":1,"method":"m"} => request {"id":1,"method":"m"}
{"id":9007199254740993,"method":"m"} => request {"id":9007199254740992,"method":"m"}
{"\u0069d":1,"method":"m"} => request {"id":1,"method":"m"}
{"jsonrpc":"1.0","id":1,"method":"m","extra":true} => request {"id":1,"method":"m"}
{"id":1,"method":"m","params":[1]} => request {"id":1,"method":"m","params":[1]}
{"id":1,"method":"m","params":"text"} => request {"id":1,"method":"m","params":"text"}
{"id":1,"method":"m","result":1,"error":2} => request {"id":1,"method":"m"}
{"method":"m","params":{"a":1}} => notification {"method":"m","params":{"a":1}}
{"params":{"id":1},"method":"m"} => notification {"method":"m","params":{"id":1}}
{"id":1,"result":{"a":1}} => response {"id":1,"result":{"a":1}}
{"id":1,"error":{"code":1}} => response {"id":1}
{"id":[],"result":1,"error":2} => response {"id":[],"result":1}
{"id":1,"result":1,"error":null} => response {"id":1,"result":1}
{"result":null} => response {"result":null}
nope => null -32700 Parse error: the line is not valid JSON
{ => null -32700 Parse error: the line is not valid JSON
{"id":1,"method":"m"} {} => null -32700 Parse error: the line is not valid JSON
{'id':1} => null -32700 Parse error: the line is not valid JSON
"text" => null -32600 Invalid request: the line is not a JSON object
null => null -32600 Invalid request: the line is not a JSON object
[{"id":1,"method":"m"}] => null -32600 Invalid request: the line is not a JSON object
{"id":true,"method":"m"} => null -32600 Invalid request: id is not a string, a number or null
{"id":{},"method":"m"} => null -32600 Invalid request: id is not a string, a number or null
{"id":1e999,"method":"m"} => null -32600 Invalid request: id is not a string, a number or null
{} => null -32600 Invalid request: method is not a string
{"id":null,"params":{}} => null -32600 Invalid request: method is not a string
{"id":{},"method":1} => null -32600 Invalid request: method is not a string
{"id":3} => 3 -32600 Invalid request: method is not a string
{"id":"a","method":null,"result":1} => "a" -32600 Invalid request: method is not a string`;
Deno.test("readMessages() tells requests, notifications, responses and invalid lines apart (interface 4.2, 7)", async () => {
  for (const row of LINES.trim().split("\n")) {
    const [line = "", message = ""] = row.split(" => ");
    assertEquals(await read(line), [message]);
  }
});

Deno.test("readMessages() skips blank lines, a byte order mark and `\\r`, and reads a last line without its end", async () => {
  const text =
    '\ufeff\n  \n\t\r\n{"id":1,"method":"m"} \r\n\n\t{"id":2,"method":"m"}';
  assertEquals(await read(text), [
    'request {"id":1,"method":"m"}',
    'request {"id":2,"method":"m"}',
  ]);
  assertEquals(await read(""), []);
});

Deno.test("readMessages() reads a line with 80,000 levels (interface 7)", async () => {
  for (const [open, close] of [["[", "]"], ['{"a":', "}"]] as const) {
    const deep = `${open.repeat(80_000)}0${close.repeat(80_000)}`;
    const line = encoder.encode(`{"id":1,"method":"m","params":${deep}}`);
    const [call] = await Array.fromAsync(
      readMessages(ReadableStream.from([line])),
    );
    assert(call?.kind === "request"); // which is too deep to be shown
  }
});

/** Starts of lines that cannot be taken, and the ids of their errors. */
const REFUSED = String.raw`
{"jsonrpc":"2.0","id":7,"method":"m","params": => 7
{"id" : "a\"b" , "method":"m","params": => "a\"b"
{"method":"m","id":-1.5e3,"params": => -1500
{"method":"m","id":9007199254740993,"params": => 9007199254740992
{"id":null,"method":"m","params": => null
{"id":1e999,"method":"m","params": => null
{"method":"m","params":{"id":1,"rest": => null
{"method":"m","no":"\"id\":1,","params": => null
{"method":"m","no":"${"x".repeat(1000)}","id":1,"params": => null`;
Deno.test("readMessages() takes the id of a line that cannot be taken from its first KiB, before the params", async () => {
  const signs = `[${"0,".repeat(250_001)}0]}`;
  const reason = "contains more than 250000 brackets, commas and colons";
  for (const row of REFUSED.trim().split("\n")) {
    const [start = "", id = ""] = row.split(" => ");
    const error = `${id} -32600 Invalid request: the line ${reason}`;
    assertEquals(await read(start, signs), [error]);
  }
  for (const start of ['{"id":1,"result":', '{"id":1,"error":{"method":']) {
    const response = 'response {"id":1,"fault":"too many parts"}';
    assertEquals(await read(start, signs), [response]);
  }
});

Deno.test("readMessages() refuses a prompt that is too large or not UTF-8, and reads on", async () => {
  const prompt = '{"id":1,"method":"session/prompt","params":"';
  const bad = Uint8Array.of(0xff, ...encoder.encode('"}\n'));
  const messages = await read(
    ...[prompt, new Uint8Array(16 * 1024 * 1024), "\n"],
    ...[prompt, bad, '{"id":"', bad, Uint8Array.of(0xff, 0x0a)],
    '{"id":2,"method":"m"}',
  );
  assertEquals(messages, [
    "1 -32600 Invalid request: the prompt is larger than 16 MiB",
    "1 -32600 Invalid request: the prompt is not UTF-8",
    '"\ufffd" -32600 Invalid request: the line is not UTF-8',
    "null -32700 Parse error: the line is not valid JSON",
    'request {"id":2,"method":"m"}',
  ]);
});
