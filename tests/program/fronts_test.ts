import { assert, assertEquals } from "@std/assert";
import { environment, tls } from "../support/corporate_network.ts";
import { Editor } from "../support/editor.ts";
import { answering } from "../support/faulty_service/answers.ts";
import { FaultyService } from "../support/faulty_service/service.ts";
import { Front, isInstalled } from "../support/fronts.ts";
import { events, progress } from "../support/service/behaviours.ts";
import { GatedStream } from "../support/service/gated_stream.ts";
import { promptsOf, ReferenceService } from "../support/service/service.ts";

// Real reverse proxies between the real program and the reference service. Each
// tested rule was once broken with one of them. Counts are those of the service.

/** What docs/service.md says, and compression for clients that accept it. */
const LINES = {
  nginx:
    "proxy_buffering off; gzip on; gzip_proxied any; gzip_types text/event-stream;",
  haproxy: "compression algo gzip\n  compression type text/event-stream",
};

for (const name of ["nginx", "haproxy"] as const) {
  Deno.test({
    ignore: !isInstalled(name),
    name: `${name} with TLS hands on each event as it happens`,
    async fn() {
      await using service = ReferenceService.start();
      const stream = new GatedStream();
      service.misbehave("stream", stream.behaviour);
      const options = { tls, upstream: service.url, lines: LINES[name] };
      await using front = await Front.start(name, options);
      await using editor = new Editor({ env: environment(front.url) });
      const sessionId = await editor.newSession();

      const id = await editor.sendPrompt(sessionId, "hello");
      // The service sends nothing more before this one has come.
      for (const node of ["plan", "write"]) {
        stream.progress(node, "started");
        await editor.update(sessionId, `${node}: started`);
      }
      stream.complete("done");

      const { result } = await editor.response(id);
      assertEquals(result.stopReason, "end_turn");
    },
  });
}

/** Opens sessions at the same time, and returns their ids. */
async function openSessions(
  editor: Editor,
  count: number,
): Promise<readonly string[]> {
  await editor.request("initialize");
  const open = async () => {
    const { result } = await editor.request("session/new");
    return result.sessionId;
  };
  return await Promise.all(Array.from({ length: count }, open));
}

Deno.test({
  ignore: !isInstalled("nginx"),
  name:
    "nginx that is reloaded at every tenth run loses none of 250 turns, and none runs twice",
  async fn() {
    await using service = ReferenceService.start({ pace: 20 });
    const options = { tls, upstream: service.url, lines: LINES.nginx };
    await using front = await Front.start("nginx", options);
    await using editor = new Editor({ env: environment(front.url) });
    const reloading = (async () => {
      for (let runs = 10; runs < 250; runs += 10) {
        await service.waitFor("create run", runs);
        front.reload();
      }
    })();
    reloading.catch(() => {}); // The service stops if a turn is lost.

    const sessions = await openSessions(editor, 10);
    const prompts: string[] = [];
    await Promise.all(sessions.map(async (id) => {
      const texts = Array.from({ length: 25 }, (_, turn) => `${id} ${turn}`);
      prompts.push(...texts);
      for (const text of texts) {
        assertEquals((await editor.prompt(id, text)).error, undefined);
      }
      const replies = editor.texts(id, "agent_message_chunk");
      assertEquals(replies, texts.map((text) => `You said: ${text}`));
      const thoughts = editor.texts(id, "agent_thought_chunk");
      assertEquals(thoughts.length, 4 * replies.length);
    }));

    assertEquals(promptsOf(service).toSorted(), prompts.toSorted());
    await reloading;
  },
});

const RUNS = 10;

Deno.test({
  ignore: !isInstalled("nginx"),
  name:
    `${RUNS} runs with event ids survive a restart of the service behind nginx`,
  async fn() {
    await using service = ReferenceService.start({ ids: true });
    // No run gets further than to its first event before the restart.
    service.misbehave("stream", (request, { normal }) => {
      if (request.headers.has("last-event-id")) return normal();
      const first = [progress("plan", "started")];
      return events(first, { firstId: 1, end: "hang" })();
    }, Infinity);
    const port = Number(new URL(service.url).port);
    let [isDown, refusals] = [false, 0];
    const allRefused = Promise.withResolvers<void>();
    await using relay = await FaultyService.start(async (connection) => {
      if (!isDown) return await connection.forward(port);
      if (++refusals === RUNS) allRefused.resolve();
    });
    const options = { tls, upstream: relay.url, lines: LINES.nginx };
    await using front = await Front.start("nginx", options);
    await using editor = new Editor({ env: environment(front.url) });
    const sessions = await openSessions(editor, RUNS);

    const answers = sessions.map((id) => editor.prompt(id, "hello"));
    await Promise.all(
      sessions.map((id) => editor.update(id, "plan: started\n")),
    );
    isDown = true;
    relay.drop();
    await allRefused.promise; // Each client has met nginx's 502.
    isDown = false;

    for (const answer of answers) {
      assertEquals((await answer).result.stopReason, "end_turn");
    }
    for (const id of sessions) {
      assertEquals(editor.steps(id), [
        ...["plan: started", "recall: no earlier prompt"],
        ...["write: started", "write: done"],
      ]);
    }
  },
});

Deno.test({
  ignore: !isInstalled("haproxy"),
  name:
    "HAProxy that refuses an HTTP/2 stream after it has forwarded a prompt does not make it run twice",
  async fn() {
    // The service reads the prompt on a connection that HAProxy reuses, and
    // closes it: HAProxy then tells its client to repeat the request.
    await using server = await FaultyService.start(
      answering(({ operation }) =>
        operation === "create run"
          ? (connection) => connection.reset()
          : undefined
      ),
    );
    await using front = await Front.start("haproxy", {
      ...{ tls, upstream: server.url, lines: "http-reuse always" },
    });
    await using editor = new Editor({ env: environment(front.url) });
    const sessionId = await editor.newSession();

    const { error } = await editor.prompt(sessionId, "only once");

    assertEquals(error?.code, -32603);
    assert(error?.message.includes("The run may have started"), error?.message);
    const prompts = server.requests
      .filter(({ operation }) => operation === "create run");
    assertEquals(prompts.length, 1);
  },
});
