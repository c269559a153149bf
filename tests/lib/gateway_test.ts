import { assert, assertEquals, assertRejects } from "@std/assert";
import { Deadline } from "../../lib/io.ts";
import {
  type Fate,
  RemoteGateway,
  ServiceError,
  type TurnEvent,
} from "../../lib/gateway.ts";
import type { Proxy } from "../../lib/settings.ts";
import { VERSION } from "../../lib/version.ts";
import { FakeClock } from "../support/clocks.ts";
import { FaultyService } from "../support/faulty_service/service.ts";
import {
  answer,
  complete,
  events,
  json,
  progress,
} from "../support/service/behaviours.ts";
import { GatedStream } from "../support/service/gated_stream.ts";
import { ReferenceService, TEST_KEY } from "../support/service/service.ts";
import {
  type Answers,
  createThread,
  gatewayTo,
  QUICK_TIMEOUTS,
  requestsOf,
  startService,
  withoutRequestId,
} from "../support/turns.ts";
import { serviceId } from "../support/texts.ts";
import { unchanged } from "../../lib/text.ts";

// No timer, request or connection may outlive a test.
Deno.test.sanitizer({ ops: true, resources: true });

/** Creates a thread, runs a turn on it, and returns everything that happened. */
async function converse(gateway: RemoteGateway): Promise<unknown[]> {
  const threadId = await createThread(gateway);
  return await Array.fromAsync(
    gateway.runTurn(serviceId(threadId), unchanged("hello")),
  );
}

Deno.test("each request carries the key, the client's version and what its operation asks for, and nothing else (interface 4.1, 5.1)", async () => {
  await using service = ReferenceService.start();
  await using gateway = gatewayTo(service);
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const headers = { traceparent };
  const threadId = await createThread(gateway);
  await Array.fromAsync(
    gateway.runTurn(serviceId(threadId), unchanged("hëllo"), { headers }),
  );

  const body = '{"agentName":"the-brain","prompt":"hëllo","wait":false}';
  assertEquals(service.requests.map(({ body }) => body), ["", body, ""]);
  const ids = new Set<string>();
  const shown = service.requests.map(({ headers }) => {
    const { host: _, "x-request-id": id = "", ...others } = Object
      .fromEntries(headers);
    ids.add(id);
    return others;
  });
  assert(
    ids.size === 3 && ids.values().every((id) => /^[-\da-f]{36}$/.test(id)),
  );
  const common = {
    "accept": "application/json",
    "accept-encoding": "gzip,br", // as fetch sends it
    "accept-language": "*",
    "user-agent": `agent-gateway/${VERSION}`,
    "x-api-key": TEST_KEY,
  };
  assertEquals(shown, [
    { ...common, "content-length": "0" },
    {
      ...common,
      "content-length": `${new TextEncoder().encode(body).length}`,
      "content-type": "application/json",
      traceparent,
    },
    {
      ...common,
      "accept": "text/event-stream",
      "accept-encoding": "identity",
      traceparent,
    },
  ]);
});

Deno.test("a gateway to an https: service has TLS seeded at once, and needs no success", async () => {
  let keys = 0;
  const generateKey = () => {
    keys++;
    return Promise.reject(new Error("no key"));
  };
  Object.defineProperty(crypto.subtle, "generateKey", {
    value: generateKey,
    configurable: true,
  });
  try {
    for (
      const [baseUrl, expected] of [["http://[::1]", 0], [
        "https://a",
        1,
      ]] as const
    ) {
      await using _ = new RemoteGateway({ baseUrl, apiKey: TEST_KEY });
      assertEquals(keys, expected);
    }
  } finally {
    Reflect.deleteProperty(crypto.subtle, "generateKey");
  }
});

Deno.test("the body of a prompt is a Blob: fetch repeats requests with strings and bytes by itself", async () => {
  await using service = startService();
  await using gateway = gatewayTo(service);
  const bodies: unknown[] = [];
  const { fetch } = globalThis;
  globalThis.fetch = (input, init) => {
    bodies.push(init?.body?.constructor);
    return fetch(input, init);
  };
  try {
    await converse(gateway);
  } finally {
    globalThis.fetch = fetch;
  }
  assertEquals(bodies, [undefined, Blob, undefined]);
});

Deno.test("each path begins with the base URL's path, and ids are percent-encoded in it", async () => {
  await using service = ReferenceService.start({ prefix: "/api/v1" });
  await using gateway = gatewayTo(service);
  service.misbehave("create thread", json({ thread_id: "a/../b ?#%2e" }));
  service.misbehave("create run", json({ run_id: "ü/.../" }));
  service.misbehave("stream", events([complete("Done.")]));
  await converse(gateway);
  assertEquals(service.requests.map(({ path }) => path), [
    "/api/v1/threads",
    "/api/v1/threads/a%2F..%2Fb%20%3F%23%252e/runs",
    "/api/v1/threads/a%2F..%2Fb%20%3F%23%252e/runs/%C3%BC%2F...%2F/stream",
  ]);
});

Deno.test("a turn is the run, its progress and its reply, in this order, each as soon as it comes; its stream is read to the end", async () => {
  const gate = new GatedStream();
  const done = events([complete("Done.")]);
  await using service = startService({ stream: [gate.behaviour, done] });
  const gateway = gatewayTo(service);
  const turn = gateway.runTurn(
    serviceId(await createThread(gateway)),
    unchanged("hello"),
  );
  const signals: (AbortSignal | null | undefined)[] = [];
  const { fetch } = globalThis;
  globalThis.fetch = (input, init) => {
    signals.push(init?.signal);
    return fetch(input, init);
  };
  const taken = turn[Symbol.asyncIterator]();
  const next = async () => (await taken.next()).value;

  assertEquals(await next(), { type: "run", runId: "r" });
  gate.progress("plan", "started");
  assertEquals(
    await next(),
    { type: "progress", node: "plan", status: "started" },
  );
  gate.send(complete("Done."));
  assertEquals(await next(), { type: "reply", text: "Done.", isNotice: false });
  assertEquals(await next(), undefined);

  globalThis.fetch = fetch;
  assertEquals(signals.map((signal) => signal?.aborted), [false, false]);

  // The stream has not ended, and the gateway waits for that, after other turns too.
  const order: string[] = [];
  await Array.fromAsync(gateway.runTurn(serviceId("t"), unchanged("hello")));
  const disposal = gateway[Symbol.asyncDispose]()
    .then(() => order.push("disposed"));
  await service.requests.at(-1)?.ended;
  await new Promise((resolve) => setTimeout(resolve, 0));
  order.push("ended");
  gate.end();
  await disposal;
  assertEquals(order, ["ended", "disposed"]);
  assertEquals(await (await gate.opened).ended, "complete");
});

Deno.test("each turn has a connection of its own, for its POST and its GETs, and so has each repetition of a POST", async () => {
  const answers = [answer(503), answer(429), json({ thread_id: "t" })];
  const stream = [answer(502), events([complete("Done.")])];
  await using service = startService({ "create thread": answers, stream });
  await using gateway = gatewayTo(service);
  await converse(gateway);
  await converse(gateway);
  const places = service.requests.map(({ connection }) => connection);
  const numbers = places.map((place) => [...new Set(places)].indexOf(place));
  assertEquals(numbers, [0, 1, 2, 3, 3, 3, 4, 5, 5]);
});

Deno.test("a prompt whose proxy does not answer in time was not run, and nothing of it stays open", async () => {
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  await using server = await FaultyService.start(async (connection) => {
    await connection.head();
    resolve();
    await connection.gone;
  });
  const { url: origin, port } = server;
  const proxy: Proxy = {
    ...{ variable: "HTTPS_PROXY", scheme: "http", user: "", password: "" },
    ...{ hostname: "127.0.0.1", port, origin },
  };
  using clock = new FakeClock();
  await using gateway = new RemoteGateway({
    ...{ baseUrl: "https://service.test", apiKey: TEST_KEY, proxy },
    timeouts: QUICK_TIMEOUTS,
  });
  using deadline = new Deadline(7_000);
  const turn = gateway.runTurn(serviceId("t"), unchanged("hello"), deadline);
  const told = assertRejects(() => Array.fromAsync(turn), ServiceError);
  await asked;
  clock.elapse(7_000);
  assertEquals((await told).fate, "not run");
});

/** The answers of a service, what happens before the time is over, and the error. */
const LATE: readonly (readonly [Answers, TurnEvent["type"], string])[] = [
  [
    { "create run": [answer(429)] },
    "wait",
    "There was no reply within 7 s. The service answered 429. The prompt did not run. Try again later.",
  ],
  [
    {
      stream: [
        events([
          progress("plan", "on"),
          { event: "error", message: "No." },
        ], { end: "hang" }),
      ],
    },
    "progress",
    "There was no reply within 7 s: the service had said: No. The run may still continue. (thread t, run r)",
  ],
  [
    {
      stream: [
        events([
          "id: 1\n",
          progress("plan", "on"),
          {
            event: "error",
            message: "No.",
          },
          "id: 2\n",
          progress("plan", "on"),
        ]),
      ],
    },
    "wait",
    "There was no reply within 7 s. The stream ended without a reply: the service had said: No. The run may still continue. (thread t, run r)",
  ],
];

for (const [answers, type, message] of LATE) {
  Deno.test(`a turn that is not over within its time limit tells its fate: ${message}`, async () => {
    using clock = new FakeClock();
    await using service = startService(answers);
    const pauses = { retry: [600_000], reconnect: [600_000] };
    await using gateway = gatewayTo(service, pauses);
    using deadline = new Deadline(7_000);
    const error = await assertRejects(async () => {
      for await (
        const event of gateway.runTurn(
          serviceId("t"),
          unchanged("hello"),
          deadline,
        )
      ) {
        if (event.type === type) clock.elapse(7_000);
      }
    });
    assert(error instanceof ServiceError);
    assertEquals(withoutRequestId(error).message, message);
    assertEquals(requestsOf("create run", service.requests).length, 1);
  });
}

/** The answers of a service, and the fate of the prompt at each event and at the end. */
const FATES: readonly (readonly [Answers, readonly (Fate | undefined)[]])[] = [
  [{}, ["may go on", undefined, undefined]],
  [{ "create run": [answer(429)] }, [...Array(3).fill("not run"), "not run"]],
  [{ "create run": [answer(500)] }, ["may have run"]],
  [{ "create run": [answer(401)] }, ["refused"]],
  [
    { stream: [events([progress("plan", "on"), { event: "error" }])] },
    ["may go on", "may go on", "failed"],
  ],
];

for (const [answers, fates] of FATES) {
  Deno.test(`a turn can be asked for the fate of its prompt at any moment: ${fates}`, async () => {
    await using service = startService(answers);
    await using gateway = gatewayTo(service);
    const turn = gateway.runTurn(serviceId("t"), unchanged("hello"));
    const found: (Fate | undefined)[] = [];
    let error: unknown;
    assertEquals(turn.fate, "not run");
    try {
      for await (const _event of turn) found.push(turn.fate);
    } catch (cause) {
      error = cause;
    }
    found.push(turn.fate);
    assertEquals(found, [...fates]);
    const end = error instanceof ServiceError ? error.fate : undefined;
    assertEquals(end, turn.fate);
  });
}
