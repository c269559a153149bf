import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Fate, RemoteGateway, ServiceError } from "../../lib/gateway.ts";
import { Deadline } from "../../lib/io.ts";
import { unchanged } from "../../lib/text.ts";
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
import { stub } from "../support/stubs.ts";
import { serviceId } from "../support/texts.ts";
import {
  type Answers,
  createThread,
  gatewayTo,
  messageOf,
  requestsOf,
  startService,
  turnOf,
} from "../support/turns.ts";

// No timer, request or connection may outlive a test.
Deno.test.sanitizer({ ops: true, resources: true });

const PROMPT = '{"agentName":"the-brain","prompt":"hëllo","wait":false}';

/** The requests of a turn, byte for byte but for their ids and the host. */
const REQUESTS = `POST /api/threads
accept: application/json
accept-encoding: gzip,br
accept-language: *
content-length: 0
user-agent: agent-gateway/${VERSION}
x-api-key: ${TEST_KEY}


POST /api/threads/a%2F..%2Fb%20%3F%23%252e/runs
accept: application/json
accept-encoding: gzip,br
accept-language: *
content-length: 56
content-type: application/json
traceparent: 00-0a-b7-01
user-agent: agent-gateway/${VERSION}
x-api-key: ${TEST_KEY}

${PROMPT}
GET /api/threads/a%2F..%2Fb%20%3F%23%252e/runs/%C3%BC%2F...%2F/stream
accept: text/event-stream
accept-encoding: identity
accept-language: *
traceparent: 00-0a-b7-01
user-agent: agent-gateway/${VERSION}
x-api-key: ${TEST_KEY}

`;

Deno.test("each request has the path, the headers and the body that its operation asks for, and nothing else (interface 4.1, 5.1)", async () => {
  await using service = ReferenceService.start();
  await using gateway = gatewayTo({ url: `${service.url}/api` });
  service.misbehave("create thread", json({ thread_id: "a/../b ?#%2e" }));
  service.misbehave("create run", json({ run_id: "ü/.../" }));
  service.misbehave("stream", events([complete("Done.")]));
  const thread = serviceId(await createThread(gateway));
  const headers = { traceparent: "00-0a-b7-01" };
  await Array.fromAsync(
    gateway.runTurn(thread, unchanged("hëllo"), { headers }),
  );

  const ids = new Set<string>();
  const sent = service.requests.map(({ method, path, headers, body }) => {
    const { host: _, "x-request-id": id = "", ...others } = Object
      .fromEntries(headers);
    ids.add(id);
    const fields = Object.entries(others).map((field) => field.join(": "));
    return [`${method} ${path}`, ...fields, "", body].join("\n");
  });
  assertEquals(sent.join("\n"), REQUESTS);
  const areUuids = ids.values().every((id) => /^[-\da-f]{36}$/.test(id));
  assert(areUuids && ids.size === 3);
});

Deno.test("a gateway to an https: service has TLS seeded at once, and needs no success", async () => {
  let keys = 0;
  const value = () => Promise.reject(new Error(`no key ${++keys}`));
  const generateKey = { value, configurable: true };
  Object.defineProperty(crypto.subtle, "generateKey", generateKey);
  try {
    for (const baseUrl of ["http://[::1]", "https://a"]) {
      await using _ = new RemoteGateway({ baseUrl, apiKey: TEST_KEY });
      assertEquals(keys, baseUrl === "https://a" ? 1 : 0);
    }
  } finally {
    Reflect.deleteProperty(crypto.subtle, "generateKey");
  }
});

Deno.test("a turn is the run, its progress and its reply, in this order, each as soon as it comes; its stream is read to the end", async () => {
  const gate = new GatedStream();
  const done = events([complete("Done.")]);
  await using service = startService({ stream: [gate.behaviour, done] });
  const gateway = gatewayTo(service);
  const bodies: unknown[] = [];
  const signals: (AbortSignal | null | undefined)[] = [];
  const { fetch } = globalThis;
  using _ = stub(globalThis, {
    fetch(input: RequestInfo | URL, init?: RequestInit) {
      bodies.push(init?.body?.constructor);
      signals.push(init?.signal);
      return fetch(input, init);
    },
  });
  const taken = turnOf(gateway)[Symbol.asyncIterator]();
  const next = async () => (await taken.next()).value;

  const step = { type: "progress", node: "plan", status: "started" };
  const reply = { type: "reply", text: "Done.", isNotice: false };
  assertEquals(await next(), { type: "run", runId: "r" });
  gate.progress("plan", "started");
  assertEquals(await next(), step);
  gate.send(complete("Done."));
  assertEquals(await next(), reply);
  assertEquals(await next(), undefined);

  // Requests with strings and bytes are repeated by fetch itself.
  assertEquals(bodies, [Blob, undefined]);
  assertEquals(signals.map((signal) => signal?.aborted), [false, false]);

  // The stream has not ended, and the gateway waits for that, after other turns too.
  const order: string[] = [];
  await Array.fromAsync(turnOf(gateway));
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
  await createThread(gateway);
  await Array.fromAsync(turnOf(gateway));
  await createThread(gateway);
  await Array.fromAsync(turnOf(gateway));
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
  const proxy: Proxy = {
    ...{ variable: "HTTPS_PROXY", scheme: "http", user: "", password: "" },
    ...{ hostname: "127.0.0.1", port: server.port, origin: server.url },
  };
  using clock = new FakeClock();
  const baseUrl = "https://service.test";
  await using gateway = new RemoteGateway({ baseUrl, apiKey: TEST_KEY, proxy });
  using deadline = new Deadline(7_000);
  const turn = Array.fromAsync(turnOf(gateway, deadline));
  const told = assertRejects(() => turn, ServiceError);
  await asked;
  clock.elapse(7_000);
  assertEquals((await told).fate, "not run");
});

const step = progress("plan", "on");
const error = { event: "error", message: "No." };
const LATE = "There was no reply within 7 s";
const GO_ON = "The run may still continue. (thread t, run r)";

/** The service's answers, an event, and the error if the time limit passes at it. */
const LIMITS: readonly (readonly [Answers, string, string])[] = [
  [
    { "create run": [answer(429)] },
    "wait",
    `${LATE}. The service answered 429. The prompt did not run. Try again later.`,
  ],
  [
    { stream: [events([step, error], { end: "hang" })] },
    "progress",
    `${LATE}. Before that, the service had reported: No. ${GO_ON}`,
  ],
  [
    { stream: [events(["id: 1\n", step, error, "id: 2\n", step])] },
    "wait",
    `${LATE}. The stream ended without a reply. Before that, the service had reported: No. ${GO_ON}`,
  ],
];

for (const [answers, type, message] of LIMITS) {
  Deno.test(`a turn that is not over within its time limit tells its fate: ${message}`, async () => {
    using clock = new FakeClock();
    await using service = startService(answers);
    const pauses = { retry: [600_000], reconnect: [600_000] };
    await using gateway = gatewayTo(service, pauses);
    using deadline = new Deadline(7_000);
    const error = await assertRejects(async () => {
      for await (const event of turnOf(gateway, deadline)) {
        if (event.type === type) clock.elapse(7_000);
      }
    }, ServiceError);
    assertEquals(messageOf(error), message);
    assertEquals(requestsOf("create run", service.requests).length, 1);
  });
}

/** The answers of a service, and the fate of the prompt at each event and at the end. */
const FATES: readonly (readonly [Answers, ...(Fate | undefined)[]])[] = [
  [{}, "may go on", undefined, undefined],
  [{ "create run": [answer(429)] }, "not run", "not run", "not run", "not run"],
  [{ "create run": [answer(500)] }, "may have run"],
  [{ "create run": [answer(401)] }, "refused"],
  [{ stream: [events([step, error])] }, "may go on", "may go on", "failed"],
];

for (const [answers, ...fates] of FATES) {
  Deno.test(`a turn can be asked for the fate of its prompt at any moment: ${fates}`, async () => {
    await using service = startService(answers);
    await using gateway = gatewayTo(service);
    const turn = turnOf(gateway);
    const found: (Fate | undefined)[] = [];
    let error: unknown;
    assertEquals(turn.fate, "not run");
    try {
      for await (const _event of turn) found.push(turn.fate);
    } catch (cause) {
      error = cause;
    }
    found.push(turn.fate);
    assertEquals(found, fates);
    const end = error instanceof ServiceError ? error.fate : undefined;
    assertEquals(end, turn.fate);
  });
}
