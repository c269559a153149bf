import { settings } from "../support/client_process.ts";
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
