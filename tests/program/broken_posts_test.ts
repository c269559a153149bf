import { assertEquals, assertMatch } from "@std/assert";
import {
  type ClientOutput,
  Collector,
  runClient,
} from "../support/client_process.ts";
import { environment, NAME, tls } from "../support/corporate_network.ts";
import { isInstalled } from "../support/fronts.ts";
import type { Leaf } from "../support/local_ca.ts";
import { TunnelProxy } from "../support/tcp_proxies.ts";

// The real program against connections that break in ways of which no server
// breaks them on purpose. The first connection creates the thread.

/** A prompt that takes several frames and TCP segments. */
const PROMPT = "x".repeat(40_000);

const node = { ignore: !isInstalled("node") };

interface Outcome extends ClientOutput {
  /** How many prompts the service took, whole or in part. */
  readonly prompts: number;
}

/** Runs a prompt against a service on which the connections after the first one break. */
async function runPrompt(
  protocol: "h2" | "http/1.1",
  faults: readonly string[],
  { isTunnelled = false, args = [] }: {
    readonly isTunnelled?: boolean;
    readonly args?: readonly string[];
  } = {},
): Promise<Outcome> {
  await using service = await BreakingService.start({
    tls,
    protocol,
    faults: [null, ...faults],
  });
  const { port } = service;
  await using proxy = new TunnelProxy(() => port);
  const env = isTunnelled
    ? environment(`https://${NAME}:${port}`, { HTTPS_PROXY: proxy.url })
    : environment(`https://127.0.0.1:${port}`, {});
  const output = await runClient({ args: ["-q", "-p", PROMPT, ...args], env });
  return { ...output, prompts: await service.stop() };
}

const UNKNOWN = "the run may have started, so it is not tried again\n";

for (const protocol of ["http/1.1", "h2"] as const) {
  for (const isTunnelled of [false, true]) {
    const way = isTunnelled ? "through a proxy's tunnel" : "directly";
    for (const place of ["in the head", "in the middle", "after the body"]) {
      for (const end of ["FIN", "RST"]) {
        const fault = `${end} ${place}`;
        Deno.test({
          ...node,
          name: `${protocol}, ${way}: a prompt that meets a ${fault} runs once`,
          async fn() {
            // More than one, for a client that would repeat it.
            const faults = [fault, fault, fault];
            const outcome = await runPrompt(protocol, faults, { isTunnelled });

            assertEquals(outcome.prompts, 1);
            assertEquals(outcome.code, 1);
            assertEquals(outcome.stdout, "");
            assertEquals(outcome.stderr.slice(-UNKNOWN.length), UNKNOWN);
          },
        });
      }
    }
  }
}

for (
  const fault of [
    "GOAWAY after the request",
    "GOAWAY with an error",
    "REFUSED_STREAM",
    "a reset without an error",
  ]
) {
  Deno.test({
    ...node,
    name: `HTTP/2: a prompt that is answered with ${fault} runs once`,
    async fn() {
      const outcome = await runPrompt("h2", [fault, fault, fault]);

      assertEquals(outcome.prompts, 1);
      assertEquals(outcome.code, 1);
      assertEquals(outcome.stderr.slice(-UNKNOWN.length), UNKNOWN);
    },
  });
}

const NOT_TAKEN = "GOAWAY before the request";

for (const times of [1, 2, 3]) {
  Deno.test({
    ...node,
    name:
      `HTTP/2: a prompt that ${times} connections did not take (GOAWAY, RFC 9113, 6.8) is sent again, and runs once`,
    async fn() {
      const outcome = await runPrompt("h2", Array(times).fill(NOT_TAKEN));

      const { code, stdout, prompts } = outcome;
      assertEquals([code, stdout, prompts], [0, "Hi.\n", 1]);
    },
  });
}

Deno.test({
  ...node,
  name: "HTTP/2: a prompt that no connection took is an error that says so",
  async fn() {
    const outcome = await runPrompt("h2", Array(4).fill(NOT_TAKEN));

    assertEquals([outcome.code, outcome.prompts], [1, 0]);
    assertMatch(
      outcome.stderr,
      /^Error: Cannot start a run: https:\S+ closes its connections .*; the run was not started\n$/,
    );
  },
});

for (const limit of ["1 stream at a time", "windows of 1 byte"]) {
  Deno.test({
    ...node,
    name: `HTTP/2: a server with ${limit} gets the prompt, and its reply comes`,
    async fn() {
      const { code, stdout, prompts } = await runPrompt("h2", [limit]);
      assertEquals([code, stdout, prompts], [0, "Hi.\n", 1]);
    },
  });
}

Deno.test({
  ...node,
  name: "HTTP/2: a server that never allows a stream is an error in time",
  async fn() {
    const outcome = await runPrompt("h2", ["no stream at a time"], {
      args: ["--timeout", "5"],
    });

    // It refuses the stream, or the client learns first that it may not open one.
    assertEquals([outcome.code, outcome.prompts], [1, 0]);
    assertEquals(outcome.stderr.slice(-UNKNOWN.length), UNKNOWN);
  },
});

interface BreakingServiceOptions {
  readonly tls: Leaf;
  readonly protocol: "h2" | "http/1.1";
  /** How each connection breaks, in their order; `null` if it does not. */
  readonly faults: readonly (string | null)[];
}

/** The service of `breaking_service.mjs`, on Node.js. */
class BreakingService implements AsyncDisposable {
  readonly port: number;
  readonly #child: Deno.ChildProcess;
  readonly #output: Collector;

  static async start(
    { tls, protocol, faults }: BreakingServiceOptions,
  ): Promise<BreakingService> {
    const child = new Deno.Command("node", {
      args: [
        `${import.meta.dirname}/../support/breaking_service.mjs`,
        JSON.stringify({ ...tls, protocol, faults }),
      ],
      stdin: "null",
      stdout: "piped",
    }).spawn();
    const output = new Collector(child.stdout);
    const port = Number.parseInt(await output.waitFor("\n"));
    return new BreakingService(child, output, port);
  }

  private constructor(
    child: Deno.ChildProcess,
    output: Collector,
    port: number,
  ) {
    this.#child = child;
    this.#output = output;
    this.port = port;
  }

  /** Stops the service and returns how many prompts it took, whole or in part. */
  async stop(): Promise<number> {
    this.#child.kill("SIGTERM");
    const text = await this.#output.all();
    return text.split("\n").filter((line) => line === "prompt").length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It was stopped.
    }
    await this.#output.all();
    await this.#child.status;
  }
}
