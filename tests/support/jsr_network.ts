/**
 * Runs a command in a copy of the project, on a network that has a JSR: the
 * registry of the tests, with an empty cache of Deno.
 *
 *     deno run -P=test tests/support/jsr_network.ts FOLDER COMMAND [ARGUMENT...]
 *
 * The copy's `deno.lock` is rewritten with the checksums of that registry. The
 * exit code is that of the command.
 *
 * @module
 */
import { writeLock } from "../../tools/lock.ts";
import { JsrRegistry, standInPackages } from "./jsr_registry.ts";

const [folder, command, ...args] = Deno.args;
if (folder === undefined || command === undefined) {
  console.error("Usage: jsr_network.ts FOLDER COMMAND [ARGUMENT...]");
  Deno.exit(2);
}

const cache = await Deno.makeTempDir();
try {
  await using registry = await JsrRegistry.start(await standInPackages());
  const env = {
    DENO_DIR: cache,
    JSR_URL: registry.url,
    STANDARD_LIBRARY: "", // The launcher has to find out.
  };
  await writeLock(folder, env);
  const child = new Deno.Command(command, { args, cwd: folder, env }).spawn();
  Deno.exitCode = (await child.status).code;
} finally {
  await Deno.remove(cache, { recursive: true });
}
