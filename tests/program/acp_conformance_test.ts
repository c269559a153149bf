import { assertEquals } from "@std/assert";
import {
  type AnyMessage,
  client,
  type ClientContext,
  type ContentBlock,
  PROTOCOL_VERSION,
  RequestError,
  type SessionNotification,
  type Stream,
} from "@agentclientprotocol/sdk";
import { settings } from "../support/client_process.ts";
import { Editor } from "../support/editor.ts";
import { GatedStream } from "../support/service/gated_stream.ts";
import { ReferenceService } from "../support/service/service.ts";

/** The bridge, as seen by the official library. */
interface Connection {
  readonly agent: ClientContext;
  /** Every update so far. */
  readonly updates: readonly SessionNotification[];
  /** Resolves when `count` updates have arrived. */
  arrival(count: number): Promise<void>;
}

/**
 * Connects the official library's client to the program. The program may request
 * only these files, and must not write to standard error.
 */
async function withOfficialClient(
  service: ReferenceService,
  use: (connection: Connection) => Promise<void>,
  files: Readonly<Record<string, string>> = {},
): Promise<void> {
  await using editor = new Editor({ env: settings(service) });
  const messages = async function* () {
    for (let seen = 0;; seen++) {
      const message = await editor.waitFor(() => editor.messages[seen]);
      yield message as AnyMessage;
    }
  };
  const stream: Stream = {
    readable: ReadableStream.from(messages()),
    writable: new WritableStream({
      write: (message) => editor.sendLine(JSON.stringify(message)),
    }),
  };
  const updates: SessionNotification[] = [];
  const unexpected: string[] = [];
  let arrived = Promise.withResolvers<void>();
  const app = client({ name: "conformance" })
    .onNotification("session/update", ({ params }) => {
      updates.push(params);
      arrived.resolve();
      arrived = Promise.withResolvers();
    })
    .onRequest("fs/read_text_file", ({ params }) => {
      const content = files[params.path];
      if (content !== undefined) return { content };
      throw RequestError.resourceNotFound(params.path);
    })
    .onRequest("*", ({ method }) => void unexpected.push(method))
    .onNotification("*", ({ method }) => void unexpected.push(method));
  await app.connectWith(stream, async (agent) => {
    const arrival = async (count: number) => {
      while (updates.length < count) await arrived.promise;
    };
    await use({ agent, updates, arrival });
  });
  const { code, stderr } = await editor.finish(); // checks each line, too
  assertEquals([code, stderr, unexpected], [0, "", []]);
}

async function newSession(agent: ClientContext): Promise<string> {
  const { sessionId } = await agent.request("session/new", {
    cwd: "/",
    mcpServers: [],
  });
  return sessionId;
}

async function initialize(agent: ClientContext): Promise<void> {
  await agent.request("initialize", { protocolVersion: PROTOCOL_VERSION });
}

const text = (text: string): ContentBlock => ({ type: "text", text });

Deno.test("the official client prompts with each kind of block that is offered, and serves linked files", async () => {
  await using service = ReferenceService.start();
  const files = { "/notes.md": "Remember the milk.\n" };
  await withOfficialClient(service, async ({ agent, updates, arrival }) => {
    await agent.request("initialize", {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: { fs: { readTextFile: true } },
    });
    const sessionId = await newSession(agent);

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
    await arrival(6);
    const kinds = updates.map(({ update }) => update.sessionUpdate);
    assertEquals(kinds, [
      ...Array(4).fill("agent_thought_chunk"),
      "agent_message_chunk",
      "session_info_update",
    ]);
    assertEquals(updates.at(-1)?.update, {
      sessionUpdate: "session_info_update",
      title: "compare notes gone.md with a.ts, please",
    });
    assertEquals(
      JSON.parse((await service.waitFor("create run")).body).prompt,
      "compare [notes](file:///notes.md) [gone.md](file:///gone.md) with [a.ts](file:///a.ts), please" +
        '\n\n<context uri="file:///notes.md">\nRemember the milk.\n</context>' +
        '\n\n<context uri="file:///a.ts">\nlet a;\n</context>',
    );
  }, files);
});

Deno.test("the official client cancels in the middle of a run in both of its ways, and prompts again", async () => {
  await using service = ReferenceService.start();
  await withOfficialClient(service, async ({ agent, updates, arrival }) => {
    await initialize(agent);
    const sessionId = await newSession(agent);
    const controller = new AbortController();
    const prompt = [text("hello")];
    const cancels = [
      () => agent.notify("session/cancel", { sessionId }),
      () => Promise.resolve(controller.abort()), // sends $/cancel_request
    ];
    for (const cancel of cancels) {
      const gate = new GatedStream();
      service.misbehave("stream", gate.behaviour);
      const response = agent.request("session/prompt", { sessionId, prompt }, {
        cancellationSignal: controller.signal,
      });
      gate.progress("plan", "started");
      await arrival(updates.length + 1);

      await cancel();
      assertEquals((await response).stopReason, "cancelled");
      await gate.dropped;
    }

    const next = await agent.request("session/prompt", { sessionId, prompt });
    assertEquals(next.stopReason, "end_turn");
    await arrival(1 + 1 + 5 + 1); // and the title
    const kinds = updates.map(({ update }) => update.sessionUpdate);
    assertEquals(kinds.slice(-2), [
      "agent_message_chunk",
      "session_info_update",
    ]);
  });
});
