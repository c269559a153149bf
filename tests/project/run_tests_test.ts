import { assert, assertMatch, assertRejects } from "@std/assert";
import { sameFlags } from "../../tools/deno.ts";
import { programOutput } from "../support/program_output.ts";

const ROOT = `${import.meta.dirname}/../..`;

const TESTS = `
  Deno.test("fails, and has a child", async () => {
    const { stdout } = new Deno.Command("sh", {
      args: ["-c", "sleep 1000 & echo $!; wait"],
      stdout: "piped",
    }).spawn();
    for await (globalThis.id of stdout.pipeThrough(new TextDecoderStream())) break;
    await using _ = {
      [Symbol.asyncDispose]: () => Promise.reject(new Error("the second")),
    };
    throw new Error("the reason " + "line\\n".repeat(500_000));
  });
  Deno.test("after it", async () => {
    const args = ["-o", "stat=", "-p", id.trim()];
    let state = "R";
    for (let i = 0; i < 999 && /^[^Z]/.test(state); i++) {
      const { stdout } = await new Deno.Command("ps", { args }).output();
      state = new TextDecoder().decode(stdout).trim();
    }
    throw new Error(["state:", state, Deno.env.get("DENO_DIR")].join());
  });
`;

Deno.test({
  name:
    "deno task test says why a test fails, ends its processes, and has a cache of its own",
  ignore: Deno.build.os === "windows",
  async fn() {
    const file = await Deno.makeTempFile({ suffix: "_test.ts" });
    await Deno.writeTextFile(file, TESTS);
    const { stdout } = await programOutput([
      ...[Deno.execPath(), "run", "-q", ...sameFlags, "-P=test", "--no-prompt"],
      ...[`${ROOT}/tools/run_tests.ts`, file, "--no-check"],
    ], { cwd: ROOT, env: { NO_COLOR: "1" } });
    await Deno.remove(file);

    assert(stdout.length < 10_000);
    assertMatch(stdout, /Error: the reason line\n/);
    const [, state, cache = ""] = /state:,(.*),(.*)/.exec(stdout) ?? [];
    assert(state === "" || state?.startsWith("Z"), stdout);
    assertMatch(cache, /tests-\w+\/deno$/);
    await assertRejects(() => Deno.stat(cache), Deno.errors.NotFound);
  },
});
