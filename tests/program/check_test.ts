import { assert, assertEquals, assertMatch } from "@std/assert";
import { Ajv2020 } from "ajv/dist/2020.js";
import schema from "../../docs/check.schema.json" with { type: "json" };
import { runClient } from "../support/client_process.ts";
import { Folder } from "../support/environment.ts";
import { longestPiece } from "../support/key_pieces.ts";
import { events, progress } from "../support/service/behaviours.ts";
import { ReferenceService, TEST_KEY } from "../support/service/service.ts";

// What is reported about each service is in tests/lib/check_test.ts.

Deno.test("--check -p --json is as docs/check.schema.json says, without the key", async () => {
  const validate = new Ajv2020({ allErrors: true }).compile(schema);
  const failure = { event: "error", message: `bad ${TEST_KEY}` };
  await using service = ReferenceService.start();
  const step = progress("plan", "done");
  service.misbehave("stream", events([step, step, failure]));
  using folder = new Folder(
    `APP_API_KEY=${TEST_KEY}\nAPP_BASE_URL=${service.url}\n`,
  );
  const args = ["--check", "--json", "-p", "hello"];
  const options = { args, env: {}, cwd: folder.path };
  const { code, stdout, stderr } = await runClient(options);
  const lines = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  assertEquals([code, stderr], [1, ""]);
  assertEquals(lines.filter((line) => !validate(line)), []);
  assertEquals(lines.map(({ name }) => name), schema.properties.name.enum);
  const states = lines.map(({ state }) => state);
  // On a busy machine, the events may come late and together.
  assertMatch(states.join(" "), /^(?:ok ){7}(?:-|note) failed$/);
  const moments = lines.filter(({ at }) => typeof at === "number");
  assertEquals(moments.map(({ name }) => name), ["events", "live", "reply"]);
  assertMatch(lines[1].text, /from \.env, service \S+ from \.env$/);
  const { text, operation, fate } = lines.at(-1);
  assertMatch(text, /^The run failed: bad \.\.\./);
  assertEquals([operation, fate], ["stream run", "failed"]);
  assert(longestPiece(lines[1].text, TEST_KEY) < 5);
});
