import { assertEquals, assertStringIncludes } from "@std/assert";
import { commandLine, settings } from "../support/client_process.ts";
import { ReferenceService } from "../support/service/service.ts";

/**
 * The client acpx, if it is installed (`npm install acpx@0.19.1`, Node.js 22):
 * a path, or a name on `PATH`.
 */
const ACPX = Deno.env.get("ACPX") ?? "acpx";

const isInstalled = await canRun(ACPX);
const name = "acpx prompts in a session that each of its processes resumes";

Deno.test({
  name: isInstalled ? name : `${name} (skipped: no acpx)`,
  ignore: !isInstalled || Deno.build.os === "windows",
  async fn() {
    await using service = ReferenceService.start();
    const folder = await Deno.makeTempDir();
    const agent = `${folder}/agent`;
    const words = [...commandLine(), "--bridge"].map((word) => `'${word}'`);
    // acpx gets a home of its own, and Deno keeps its cache.
    const home = Deno.env.get("HOME");
    await Deno.writeTextFile(
      agent,
      `#!/bin/sh\nHOME='${home}' exec ${words.join(" ")}\n`,
    );
    await Deno.chmod(agent, 0o700);
    const acpx = async (...args: string[]) => {
      const { success, stdout, stderr } = await new Deno.Command(ACPX, {
        args: ["--agent", agent, "--cwd", folder, "--ttl", "1", ...args],
        env: { HOME: folder, ...settings(service) },
      }).output();
      const text = new TextDecoder().decode(stdout);
      assertEquals(success, true, text + new TextDecoder().decode(stderr));
      return text;
    };

    assertStringIncludes(await acpx("exec", "6 * 7"), "6 * 7 = 42");
    await acpx("sessions", "new");
    assertStringIncludes(await acpx("hello"), "Hello! I am the-brain.");
    await acpx("sessions", "close"); // ends the process that holds the session

    const turn = ["create thread", "create run", "stream"];
    const calls = service.requests.map(({ operation }) => operation);
    assertEquals<unknown>(calls, [...turn, ...turn]);
    // Processes that acpx has left running may still write to the folder.
    await Deno.remove(folder, { recursive: true }).catch(() => {});
  },
});

async function canRun(program: string): Promise<boolean> {
  try {
    const args = ["--version"];
    return (await new Deno.Command(program, { args }).output()).success;
  } catch {
    return false;
  }
}
