/**
 * The reference service as a process of its own: prints its URL, one line, and
 * runs until SIGTERM or SIGINT.
 *
 * ```sh
 * deno run --allow-net tests/support/service/main.ts [--port N] [--key KEY] [--pace MS]
 * ```
 *
 * @module
 */
import { parseArgs } from "node:util";
import { ReferenceService, TEST_KEY } from "./service.ts";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "0" },
    key: { type: "string", default: TEST_KEY },
    pace: { type: "string", default: "0" },
  },
});

const service = ReferenceService.start({
  port: Number(values.port),
  key: values.key,
  pace: Number(values.pace),
});
const stopped = Promise.withResolvers<void>();
const stop = () => stopped.resolve();
const signals: Deno.Signal[] = Deno.build.os === "windows"
  ? ["SIGINT"]
  : ["SIGINT", "SIGTERM"];
for (const signal of signals) Deno.addSignalListener(signal, stop);

console.log(service.url);
await stopped.promise;

for (const signal of signals) Deno.removeSignalListener(signal, stop);
await service[Symbol.asyncDispose]();
