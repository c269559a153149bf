import { type Behaviour, type BehaviourContext, json } from "./behaviours.ts";
import { Exchange, type Operation, type RecordedRequest } from "./exchange.ts";
import {
  refusal,
  RemoteAgent,
  type RemoteAgentOptions,
  route,
  type Target,
} from "./remote_agent.ts";
import { soon } from "../waits.ts";

export { TEST_KEY } from "./remote_agent.ts";

interface ServiceOptions extends RemoteAgentOptions {
  /** A certificate chain and its key, both PEM, for a service with TLS. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

interface Misbehaviour {
  readonly behaviour: Behaviour;
  times: number;
}

/**
 * The remote agent service, small but real: an HTTP server on loopback that
 * answers by a {@linkcode RemoteAgent}, records all requests, and misbehaves on
 * request.
 */
export class ReferenceService implements AsyncDisposable {
  readonly #agent: RemoteAgent;
  readonly #stop = new AbortController();
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #requests: Exchange[] = [];
  readonly #misbehaviours = new Map<Operation, Misbehaviour[]>();
  #arrival = Promise.withResolvers<void>();
  /** The base URL, without a slash at its end. Any path may follow it. */
  readonly url: string;

  /** Starts a service that is reachable as soon as this returns. */
  static start(options: ServiceOptions = {}): ReferenceService {
    return new ReferenceService(options);
  }

  private constructor(options: ServiceOptions) {
    this.#agent = new RemoteAgent(options);
    this.#server = Deno.serve(
      {
        port: 0,
        hostname: "127.0.0.1",
        signal: this.#stop.signal,
        onListen: () => {},
        // Streams that break off on purpose raise this error.
        onError: () => new Response(null, { status: 500 }),
        ...options.tls,
      },
      (request, info) => this.#handle(request, info),
    );
    const scheme = options.tls ? "https" : "http";
    this.url = `${scheme}://127.0.0.1:${this.#server.addr.port}`;
  }

  /** Every request so far, in order of arrival. */
  get requests(): readonly RecordedRequest[] {
    return this.#requests;
  }

  /**
   * Answers the next `times` requests of an operation by `behaviour`; several
   * calls queue up. `Infinity` means always.
   */
  misbehave(operation: Operation, behaviour: Behaviour, times = 1): void {
    const queue = this.#misbehaviours.get(operation) ?? [];
    queue.push({ behaviour, times });
    this.#misbehaviours.set(operation, queue);
  }

  /**
   * The `count`-th request of an operation since the start, as soon as it is
   * there. Rejects when the service stops before.
   */
  waitFor(operation: Operation, count = 1): Promise<RecordedRequest> {
    return soon(this.#waitFor(operation, count), () => {
      const seen = this.#requests.map((one) => one.operation ?? one.path);
      return `"${operation}" number ${count}, but ${seen.join(", ")}`;
    });
  }

  async #waitFor(
    operation: Operation,
    count: number,
  ): Promise<RecordedRequest> {
    for (;;) {
      const request = this.#requests
        .filter((one) => one.operation === operation)[count - 1];
      if (request !== undefined) return request;
      if (this.#stop.signal.aborted) {
        throw new Error(`The service stopped before "${operation}"`);
      }
      await this.#arrival.promise;
    }
  }

  /** Stops at once, even with open connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#wake();
    for (const exchange of this.#requests) exchange.drop();
    await this.#server.finished;
  }

  async #handle(
    request: Request,
    info: Deno.ServeHandlerInfo<Deno.NetAddr>,
  ): Promise<Response> {
    // Not `URL`, which would resolve dot segments and so hide them.
    const path = request.url.slice(
      request.url.indexOf("/", request.url.indexOf("//") + 2),
    );
    const target = route(request.method, path);
    const { hostname, port } = info.remoteAddr;
    const exchange = new Exchange({
      operation: target?.operation,
      method: request.method,
      path,
      headers: new Headers(request.headers),
      body: await request.text().catch(() => ""),
      connection: `${hostname}:${port}`,
    });
    this.#requests.push(exchange);
    this.#wake();
    const behaviour = exchange.operation && this.#next(exchange.operation);
    const response = behaviour
      ? await this.#misbehaved(behaviour, request, exchange, target)
      : this.#agent.answer(exchange, target);
    return exchange.deliver(response, info.completed);
  }

  #wake(): void {
    this.#arrival.resolve();
    this.#arrival = Promise.withResolvers();
  }

  #next(operation: Operation): Behaviour | undefined {
    const queue = this.#misbehaviours.get(operation) ?? [];
    const [first] = queue;
    if (!first) return undefined;
    if (--first.times <= 0) queue.shift();
    return first.behaviour;
  }

  async #misbehaved(
    behaviour: Behaviour,
    request: Request,
    exchange: Exchange,
    target: Target | undefined,
  ): Promise<Response> {
    const context: BehaviourContext = {
      normal: () => this.#agent.answer(exchange, target),
      get signal() {
        request.signal.addEventListener("abort", () => {
          if (exchange.status === undefined) exchange.drop();
        });
        return exchange.gone;
      },
    };
    try {
      return await behaviour(exchange, context);
    } catch (error) {
      if (exchange.gone.aborted) throw error;
      return refusal(500, `The behaviour failed: ${error}`);
    }
  }
}

/**
 * A service whose one thread is `thread-1`, and whose runs are these streams,
 * one after the other.
 */
export function serveStreams(
  ...streams: readonly Behaviour[]
): ReferenceService {
  const service = ReferenceService.start();
  service.misbehave("create thread", json({ thread_id: "thread-1" }));
  for (const stream of streams) addStream(service, stream);
  return service;
}

/** Makes this stream the service's next run. */
export function addStream(service: ReferenceService, stream: Behaviour): void {
  service.misbehave("create run", json({ run_id: "run-1" }));
  service.misbehave("stream", stream);
}

/** The prompts that have reached a service, in order. */
export function promptsOf(service: ReferenceService): readonly unknown[] {
  return service.requests
    .filter(({ operation }) => operation === "create run")
    .map(({ body }) => JSON.parse(body).prompt);
}
