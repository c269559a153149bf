import {
  commandLine,
  RUN_BY_DENO,
  settings,
} from "../support/client_process.ts";
import { Editor } from "../support/editor.ts";
import { GatedStream } from "../support/service/gated_stream.ts";
import { ReferenceService } from "../support/service/service.ts";

Deno.test({
  name:
    "a bridge whose client was killed ends, although the stream of its run is quiet",
  ignore: Deno.build.os === "windows", // The id of the parent never changes there.
  async fn() {
    await using service = ReferenceService.start();
    // The shell does not replace itself by the program, because a command follows.
    const startedBy = ["sh", "-c", '"$@"; :', "sh"];
    await using editor = new Editor({ env: settings(service), startedBy });
    const gate = new GatedStream();
    service.misbehave("stream", gate.behaviour);
    const sessionId = await editor.newSession();
    await editor.send("session/prompt", { sessionId, prompt: "hello" });
    gate.progress("plan", "started");
    await editor.update(sessionId, "plan: started");

    editor.client.kill("SIGKILL");
    await editor.client.closeInput();

    await gate.dropped;
    await editor.client.output(); // The program has closed it, too.
  },
});

/** Lets the parent of a process die as soon as the environment is looked at. */
const PRELOAD = `
  let parent = 7;
  Object.defineProperty(Deno, "ppid", { get: () => parent });
  const { get } = Deno.env;
  Deno.env.get = (name) => {
    parent = 1;
    return get(name);
  };
`;

// A binary takes no flags of Deno.
if (RUN_BY_DENO && Deno.build.os !== "windows") {
  Deno.test("a bridge notices that its client died while it was being loaded", async () => {
    await using service = ReferenceService.start();
    const gate = new GatedStream();
    service.misbehave("stream", gate.behaviour);
    const preload = await Deno.makeTempFile({ suffix: ".js" });
    await Deno.writeTextFile(preload, PRELOAD);
    const [deno, run, ...rest] = commandLine();
    const program = [deno, run ?? "", `--preload=${preload}`, ...rest];
    await using editor = new Editor({ env: settings(service), program });
    const sessionId = await editor.newSession();
    await editor.send("session/prompt", { sessionId, prompt: "hello" });
    gate.progress("plan", "started");
    await editor.update(sessionId, "plan: started");

    await editor.client.closeInput();

    await gate.dropped;
    await editor.client.output();
    await Deno.remove(preload);
  });
}
