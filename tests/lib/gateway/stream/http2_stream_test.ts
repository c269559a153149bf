import { assertEquals } from "@std/assert";
import { RemoteGateway } from "../../../../lib/gateway.ts";
import { unchanged } from "../../../../lib/text.ts";
import {
  goAway,
  openAnswer,
  partsOf,
  resetStream,
} from "../../../support/faulty_service/parts.ts";
import { FaultyService } from "../../../support/faulty_service/service.ts";
import { LocalCa } from "../../../support/local_ca.ts";
import { encodeItem, progress } from "../../../support/service/behaviours.ts";
import { TEST_KEY } from "../../../support/service/service.ts";
import { serviceId } from "../../../support/texts.ts";
import { QUICK_TIMEOUTS } from "../../../support/turns.ts";
import { soon } from "../../../support/waits.ts";

const event = new TextDecoder().decode(
  encodeItem(progress("a", ""), { id: 1 }),
);

/** What a stream sends before its end, and after how many such streams the reply comes. */
const MOMENTS: Readonly<Record<string, readonly [string, number]>> = {
  "after its headers": ["", 7],
  "after a comment": [":\n\n", 7],
  "within a line": [event.slice(0, -4), 7],
  "after an event": [event, 4], // Five that only repeat it are the end.
};

/** The frames that end a stream, and whether the connection ends, too. */
const ENDS: Readonly<
  Record<string, readonly [(stream: number) => Uint8Array, "stays" | "closes"]>
> = {
  "CANCEL": [(stream) => resetStream(stream, 8), "stays"],
  "NO_ERROR": [(stream) => resetStream(stream, 0), "stays"],
  "INTERNAL_ERROR": [(stream) => resetStream(stream, 2), "stays"],
  "GOAWAY": [(stream) => goAway(stream, 0), "closes"],
  "a closed connection": [() => new Uint8Array(), "closes"],
};

/** Follows a run whose first streams end so; returns what is told. */
async function follow(
  ca: LocalCa,
  { text, count, end: [frames, after] }: {
    readonly text: string;
    readonly count: number;
    readonly end: (typeof ENDS)[string];
  },
): Promise<readonly string[]> {
  let left = count;
  await using service = await FaultyService.start(async (connection) => {
    for await (
      const { place, operation, stream, answer } of partsOf(connection, "h2")
    ) {
      if (place !== "after the body") continue;
      if (operation !== "stream" || left-- <= 0) await answer();
      else {
        await connection.write(openAnswer(stream, text));
        await connection.write(frames(stream));
        if (after === "closes") return connection.destroy();
      }
    }
  }, { tls: ca.issue("127.0.0.1"), protocol: "h2" });
  await using gateway = new RemoteGateway({
    baseUrl: service.url,
    apiKey: TEST_KEY,
    timeouts: QUICK_TIMEOUTS,
  });
  const told: string[] = [];
  const prompt = unchanged("hello");
  for await (const event of gateway.runTurn(serviceId("t"), prompt)) {
    if (event.type === "progress") told.push(event.node);
    if (event.type === "reply") told.push(event.text);
  }
  return told;
}

for (const [name, end] of Object.entries(ENDS)) {
  Deno.test(`a run whose streams of HTTP/2 end by ${name} is followed to its reply, ${Object.keys(MOMENTS)}`, async () => {
    using ca = new LocalCa();
    const caCerts = [await Deno.readTextFile(ca.certificate)];
    const { createHttpClient } = Deno;
    Deno.createHttpClient = (options) =>
      createHttpClient({ ...options, caCerts });
    try {
      for (const [moment, [text, count]] of Object.entries(MOMENTS)) {
        const told = follow(ca, { text, count, end });
        const nodes = text === event ? ["a"] : [];
        assertEquals(await soon(told, () => moment, 20_000), [
          ...nodes,
          "Reply to run-1",
        ]);
      }
    } finally {
      Deno.createHttpClient = createHttpClient;
    }
  });
}
