import { assertEquals } from "@std/assert";
import { blocksOf } from "../support/blocks.ts";
import {
  Client,
  type ClientOptions,
  settings,
} from "../support/client_process.ts";
import { GatedStream } from "../support/service/gated_stream.ts";
import { promptsOf, ReferenceService } from "../support/service/service.ts";

/** The program on a Windows console of its own. */
class ConsoleClient extends Client {
  readonly #port: Deno.TcpListener;

  private constructor(port: Deno.TcpListener, options: ClientOptions) {
    super({
      ...options,
      startedBy: [
        Deno.execPath(),
        ...["run", "-q", "--no-config", "-A"],
        `${import.meta.dirname}/../support/own_console.ts`,
        `${port.addr.port}`,
      ],
    });
    this.#port = port;
  }

  static open(options: ClientOptions): ConsoleClient {
    const port = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    return new ConsoleClient(port, options);
  }

  /** Presses Ctrl-C. */
  async interrupt(): Promise<void> {
    using connection = await this.#port.accept();
    await connection.write(new Uint8Array(1));
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    this.#port.close();
    await super[Symbol.asyncDispose]();
  }
}

/** A test on a Windows console; the other systems have signals instead. */
function consoleTest(name: string, fn: () => Promise<void>): void {
  if (Deno.build.os === "windows") Deno.test(name, fn);
}

consoleTest(
  "Ctrl-C on a Windows console ends the prompt loop: exit 130",
  async () => {
    await using service = ReferenceService.start();
    await using client = ConsoleClient.open({ env: settings(service) });
    await client.stderr.waitFor("thread ");

    await client.interrupt();
    const { code, stdout } = await client.output();

    assertEquals([code, stdout], [130, ""]);
  },
);

consoleTest(
  "Ctrl-C on a Windows console drops what the bridge runs: exit 130",
  async () => {
    await using service = ReferenceService.start();
    await using client = ConsoleClient.open({
      args: ["--bridge"],
      env: settings(service),
    });
    const gate = new GatedStream();
    service.misbehave("stream", gate.behaviour);
    const send = (id: number, method: string, params = "{}") =>
      client.write(`{"id":${id},"method":"${method}","params":${params}}\n`);
    await send(0, "initialize");
    await send(1, "session/new");
    const answers = await client.stdout.waitFor(/"sessionId":.*\n/);
    const [session] = /"sessionId":"[^"]+"/.exec(answers) ?? [];
    await send(2, "session/prompt", `{${session},"prompt":"hello"}`);
    await gate.opened;

    await client.interrupt();
    const { code, stderr } = await client.output();

    assertEquals([code, stderr], [130, ""]);
    await gate.dropped;
  },
);

/** What is typed on a Windows console, read by read, and the prompts that are sent. */
const TYPED = blocksOf(String.raw`
an Enter with more text after it in one read belongs to a paste
  first\rsecond
  \r
  = first\nsecond
an Enter at the end of a read sends the prompt
  first
  \r
  second
  \r
  = first
  = second
any character can be typed
  grüße 日本 a😀b👨\u200d👩\r
  = grüße 日本 a😀b👨\u200d👩
`);

for (const [name, texts] of TYPED) {
  consoleTest(`on a Windows console, ${name}`, async () => {
    const isPrompt = (text: string) => text.startsWith("= ");
    await using service = ReferenceService.start();
    await using client = new Client({
      env: settings(service),
      startedBy: [
        Deno.execPath(),
        ...["run", "-q", "--no-config", "-A"],
        `${import.meta.dirname}/../support/pseudo_console.ts`,
      ],
    });
    await client.stdout.waitFor("> ");
    let sent = 0;
    for (const read of texts.filter((text) => !isPrompt(text))) {
      await client.write(read);
      if (read.endsWith("\r")) await service.waitFor("stream", ++sent);
      else await client.stdout.waitFor(read.split("\r").at(-1) ?? "");
    }
    await client.write("exit\r");
    assertEquals((await client.status).code, 0);
    const prompts = texts.filter(isPrompt).map((text) => text.slice(2));
    assertEquals(promptsOf(service), prompts);
  });
}
