import { assertEquals } from "@std/assert";
import {
  type AnyMessage,
  client,
  type ContentBlock,
  PROTOCOL_VERSION,
  RequestError,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { settings } from "../support/client_process.ts";
import { Editor } from "../support/editor.ts";
import { GatedStream } from "../support/service/gated_stream.ts";
import { ReferenceService } from "../support/service/service.ts";

const text = (text: string): ContentBlock => ({ type: "text", text });

Deno.test("the official client prompts with each kind of block that is offered, serves linked files, and cancels in both of its ways", async () => {
  await using service = ReferenceService.start();
  await using editor = new Editor({ env: settings(service) });
  const messages = async function* () {
    for (let seen = 0;; seen++) {
      const message = await editor.waitFor(() => editor.messages[seen]);
      yield message as AnyMessage;
    }
  };
  const updates: SessionUpdate[] = [];
  const unexpected: string[] = [];
  let arrived = Promise.withResolvers<void>();
  const arrival = async (count: number) => {
    while (updates.length < count) await arrived.promise;
    return updates.splice(0);
  };
  const app = client({ name: "conformance" })
    .onNotification("session/update", ({ params }) => {
      updates.push(params.update);
      arrived.resolve();
      arrived = Promise.withResolvers();
    })
    .onRequest("fs/read_text_file", ({ params: { path } }) => {
      if (path === "/notes.md") return { content: "Remember the milk.\n" };
      throw RequestError.resourceNotFound(path);
    })
    .onRequest("*", ({ method }) => void unexpected.push(method))
    .onNotification("*", ({ method }) => void unexpected.push(method));

  await app.connectWith({
    readable: ReadableStream.from(messages()),
    writable: new WritableStream({
      write: (message) => editor.sendLine(JSON.stringify(message)),
    }),
  }, async (agent) => {
    await agent.request("initialize", {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: { fs: { readTextFile: true } },
    });
    const { sessionId } = await agent.request("session/new", {
      cwd: "/",
      mcpServers: [],
    });

    const { stopReason } = await agent.request("session/prompt", {
      sessionId,
      prompt: [
        text("compare "),
        { type: "resource_link", name: "notes", uri: "file:///notes.md" },
        { type: "resource_link", name: "gone.md", uri: "file:///gone.md" },
        text(" with "),
        {
          type: "resource",
          resource: { uri: "file:///a.ts", text: "let a;" },
        },
        text(", please"),
      ],
    });
    assertEquals(stopReason, "end_turn");
    const shown = await arrival(6);
    const [title] = shown.splice(-1);
    const kinds = shown.map(({ sessionUpdate }) => sessionUpdate);
    assertEquals(kinds, [
      ...Array(4).fill("agent_thought_chunk"),
      "agent_message_chunk",
    ]);
    assertEquals(title, {
      sessionUpdate: "session_info_update",
      title: "compare notes gone.md with a.ts, please",
    });
    assertEquals(
      JSON.parse((await service.waitFor("create run")).body).prompt,
      "compare [notes](file:///notes.md) [gone.md](file:///gone.md) with [a.ts](file:///a.ts), please" +
        '\n\n<context uri="file:///notes.md">\nRemember the milk.\n</context>' +
        '\n\n<context uri="file:///a.ts">\nlet a;\n</context>',
    );

    const controller = new AbortController();
    for (
      const cancel of [
        () => agent.notify("session/cancel", { sessionId }),
        () => controller.abort(), // sends $/cancel_request
      ]
    ) {
      const gate = new GatedStream();
      service.misbehave("stream", gate.behaviour);
      const response = agent.request("session/prompt", {
        sessionId,
        prompt: [text("hello")],
      }, { cancellationSignal: controller.signal });
      gate.progress("plan", "started");
      await arrival(1);

      await cancel();
      assertEquals((await response).stopReason, "cancelled");
      await gate.dropped;
    }
  });
  const { code, stderr } = await editor.finish(); // checks each line, too
  assertEquals([code, stderr, unexpected], [0, "", []]);
});
