import { assert, assertEquals } from "@std/assert";
import {
  CLIENT_RECORDINGS,
  type ClientRecording,
} from "../support/client_recordings.ts";
import { settings } from "../support/client_process.ts";
import { Editor, isQuestion } from "../support/editor.ts";
import { ReferenceService } from "../support/service/service.ts";

for (const recording of CLIENT_RECORDINGS) {
  Deno.test(`${recording.client} gets its answers from initialize to the end`, async () => {
    await using service = ReferenceService.start();
    const { prompts, reply } = recording;

    const { sessionId, replies } = await replay(recording, service);

    const runs = service.requests.filter(({ operation }) =>
      operation === "create run"
    );
    assertEquals<unknown>(
      runs.map(({ body }) => JSON.parse(body).prompt),
      prompts,
    );
    assert(
      runs.every(({ path }) => path.startsWith(`/threads/${sessionId}/`)),
      "a prompt ran on another thread",
    );
    assertEquals(replies.at(-1), reply);
  });
}

/** Sends the client's lines to one bridge process after the other. */
async function replay(
  { steps, files = {} }: ClientRecording,
  service: ReferenceService,
): Promise<{ readonly sessionId: string; readonly replies: string[] }> {
  let sessionId = "";
  const replies: string[] = [];
  for (const lines of processes(steps)) {
    await using editor = new Editor({ env: settings(service) });
    for (const line of lines) {
      await editor.sendLine(line.replaceAll("SESSION", sessionId));
      const { id, method } = JSON.parse(line);
      if (id === undefined) continue;
      if (line.includes("please hang")) {
        const streams = service.requests.filter(({ operation }) =>
          operation === "stream"
        ).length;
        await service.waitFor("stream", streams + 1);
        continue; // The next line cancels it.
      }
      const response = await answered(editor, id, files);
      assertEquals(response.error, undefined, line);
      if (method === "session/new") sessionId = response.result.sessionId;
    }
    const { code, stderr } = await editor.finish();
    assertEquals([code, stderr], [0, ""]);
    const said = lines.filter((line) => line.includes('"id"')).length;
    assertEquals(
      editor.messages.filter((message) => !("method" in message)).length,
      said,
    );
    replies.push(...editor.texts(sessionId, "agent_message_chunk"));
  }
  return { sessionId, replies };
}

/** The lines of each process. */
function processes(steps: readonly string[]): string[][] {
  const all: string[][] = [[]];
  for (const step of steps) {
    if (step === "restart") all.push([]);
    else all.at(-1)?.push(step);
  }
  return all;
}

/** Waits for a response, and answers the bridge's requests meanwhile. */
async function answered(
  editor: Editor,
  id: unknown,
  files: Readonly<Record<string, string>>,
) {
  const { stdout } = editor.client;
  for (let seen = 0;;) {
    const { length } = stdout.text;
    const messages = editor.messages.slice(seen);
    seen += messages.length;
    for (const message of messages) {
      if (isQuestion(message)) {
        if (editor.isAnswered(message)) continue;
        const content = files[message.params.path];
        await (content === undefined
          ? editor.refuse(message, "fs/read_text_file failed: ENOENT")
          : editor.answer(message, { content }));
      } else if (!("method" in message) && message.id === id) return message;
    }
    await stdout.more(length);
  }
}
