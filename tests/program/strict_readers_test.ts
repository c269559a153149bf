import { assertEquals } from "@std/assert";
import { Client, runClient, settings } from "../support/client_process.ts";
import fc from "../support/generated.ts";
import { programOutput } from "../support/program_output.ts";
import { times } from "../support/repetitions.ts";
import { complete, events, progress } from "../support/service/behaviours.ts";
import {
  promptsOf,
  type ReferenceService,
  serveStreams,
} from "../support/service/service.ts";

/**
 * Reads lines of JSON as strictly as Python can: no bad UTF-8, and no half of a
 * surrogate pair. Prints a digest of their nodes and statuses.
 */
const STRICT_READER = `
import hashlib, json, sys
digest = hashlib.sha256()
for line in sys.stdin.buffer:
    value = json.loads(line.decode("utf-8"))
    json.dumps(value, ensure_ascii=False).encode("utf-8")
    names = value.get("params", {}).get("update", {}).get("_meta", value)
    if "node" in names:
        digest.update(json.dumps([names["node"], names["status"]]).encode())
print(digest.hexdigest())
`;

async function readStrictly(lines: string): Promise<string> {
  const python = ["python3", "-c", STRICT_READER];
  const { stdout, stderr } = await programOutput(python, { input: lines });
  assertEquals(stderr, "");
  return stdout.trim();
}

/** The digest that {@linkcode STRICT_READER} prints of these names. */
async function digestOf(names: readonly (readonly string[])[]) {
  const json = names.map((pair) => JSON.stringify(pair)).join("\n");
  const python = [
    "python3",
    "-c",
    `
import hashlib, json, sys
digest = hashlib.sha256()
for line in sys.stdin.buffer:
    digest.update(json.dumps(json.loads(line)).encode())
print(digest.hexdigest())
`,
  ];
  return (await programOutput(python, { input: json })).stdout.trim();
}

/** Texts of any UTF-16 code units, half of them surrogates. */
const text = fc.array(
  fc.oneof(fc.integer({ min: 0xd800, max: 0xdfff }), fc.nat(0xffff)),
  { maxLength: 6 },
).map((codes) => String.fromCharCode(...codes));

const names = fc.sample(fc.tuple(text, text), times(100_000));
const expected = names.map((pair) => pair.map((name) => name.toWellFormed()));

function serveNames(): ReferenceService {
  const steps = names.map(([node, status]) => progress(node, status));
  return serveStreams(events([...steps, complete("\ud83d Done. \ude00")]));
}

Deno.test("a strict reader of JSON takes each line of --json, whatever the service sends", async () => {
  await using service = serveNames();
  const { stdout } = await runClient({
    args: ["--json", "-p", "hello"],
    env: settings(service),
  });
  assertEquals(await readStrictly(stdout), await digestOf(expected));
});

Deno.test("a strict reader of JSON takes each line of the bridge, and the service each prompt", async () => {
  await using service = serveNames();
  await using client = new Client({
    args: ["--bridge"],
    env: settings(service),
  });
  await client.write('{"id":1,"method":"initialize"}\n');
  await client.write('{"id":2,"method":"session/new"}\n');
  await client.stdout.waitFor('"thread-1"');
  const prompt = (id: number, text: string) =>
    `{"id":${id},"method":"session/prompt","params":{"sessionId":"thread-1","prompt":"${text}"}}\n`;
  await client.write(prompt(3, "a \\u0000"));
  await client.stdout.waitFor("-32602");
  const { stdout } = await client.finish(prompt(4, "he said hi \\ud83d"));

  assertEquals(await readStrictly(stdout), await digestOf(expected));
  assertEquals(promptsOf(service), ["he said hi \ufffd"]);
});
