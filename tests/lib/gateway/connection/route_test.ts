import { assertEquals, assertRejects } from "@std/assert";
import { Route } from "../../../../lib/gateway/connection/route.ts";
import { FakeClock } from "../../../support/clocks.ts";
import {
  FaultyService,
  type Script,
} from "../../../support/faulty_service/service.ts";
import { Redactor } from "../../../../lib/text.ts";
import { soon, until } from "../../../support/waits.ts";

const HELLO = new TextEncoder().encode("hello");
const NEVER = new AbortController().signal;

/** A service, the way to it, and what each of its connections has brought. */
class Scene implements AsyncDisposable {
  readonly route: Route;
  /** By the number of the connection, from 0 on. */
  readonly messages: string[] = [];

  static async start(script: Script = answer): Promise<Scene> {
    const service = await FaultyService.start(async (connection) => {
      const index = scene.messages.push("") - 1;
      connection.holds(HELLO.length).then(() => {
        scene.messages[index] = connection.received.toString();
      });
      await script(connection);
    });
    const scene = new Scene(service);
    return scene;
  }

  private constructor(readonly service: FaultyService) {
    this.route = routeTo(service);
  }

  /** Waits until the service has so many connections. */
  async connections(count: number): Promise<void> {
    await until(() => this.messages.length >= count);
  }

  /** Asks as a relay does, and returns the answer. */
  async ask(signal = NEVER): Promise<string> {
    const { connection, firstBytes } = await this.route.ask(HELLO, signal);
    await connection.write(HELLO); // It is open.
    connection.close();
    return new TextDecoder().decode(firstBytes);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.route[Symbol.dispose]();
    await this.service[Symbol.asyncDispose]();
  }
}

function routeTo({ port }: FaultyService, connectsAhead?: boolean): Route {
  const url = new URL(`https://127.0.0.1:${port}`);
  return new Route(undefined, url, {
    redactor: new Redactor(""),
    connectsAhead,
  });
}

/** Answers with the number of the connection. */
const answer: Script = async (connection) => {
  if (!await connection.holds(HELLO.length)) return;
  await connection.write(`answer ${connection.number}`);
  await connection.gone;
};

Deno.test("Route opens one connection ahead, which carries nothing, and the next request takes it", async () => {
  await using scene = await Scene.start();
  using _clock = new FakeClock(); // No time passes: the service answers soon.

  scene.route.prepare();
  scene.route.prepare();
  await scene.connections(1);
  assertEquals(scene.messages, [""]);

  assertEquals(await scene.ask(), "answer 1");
  assertEquals(await scene.ask(), "answer 2");
  assertEquals(scene.messages, ["hello", "hello"]);
});

Deno.test("Route does not use a connection ahead that is older than 45 s, although its timer is late", async () => {
  await using scene = await Scene.start();
  using clock = new FakeClock();
  scene.route.prepare();
  await scene.connections(1);

  clock.time = 45_000;

  assertEquals(await scene.ask(), "answer 2");
  assertEquals(scene.messages, ["", "hello"]);
});

Deno.test("Route drops a connection ahead that ends, and opens another one when it is asked to", async () => {
  await using scene = await Scene.start(async (connection) => {
    if (connection.number > 1) await connection.gone;
  });
  await until(() => {
    scene.route.prepare();
    return scene.messages.length > 1;
  });
});

Deno.test("Route opens nothing ahead after the service could not be reached, until it was", async () => {
  await using scene = await Scene.start();
  scene.route.dropAhead();
  scene.route.prepare();

  assertEquals(await scene.ask(), "answer 1");
  scene.route.prepare();
  await scene.connections(2);

  assertEquals(scene.messages, ["hello", ""]);
});

Deno.test("Route that may not prepare opens nothing ahead", async () => {
  await using scene = await Scene.start();
  using route = routeTo(scene.service, false);
  route.prepare();

  assertEquals(await scene.ask(), "answer 1");
});

Deno.test("Route closes its connections when the signal is aborted", async () => {
  const gone = Promise.withResolvers<void>();
  await using scene = await Scene.start(async (connection) => {
    await connection.gone;
    gone.resolve();
  });
  const controller = new AbortController();
  const failed = assertRejects(() => scene.ask(controller.signal));
  await until(() => scene.messages[0] === "hello");

  controller.abort();

  await soon(gone.promise, () => "the connection is open");
  await failed;
});
