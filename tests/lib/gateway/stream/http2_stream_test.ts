import { assertEquals } from "@std/assert";
import {
  goAway,
  openAnswer,
  partsOf,
  resetStream,
} from "../../../support/faulty_service/parts.ts";
import { FaultyService } from "../../../support/faulty_service/service.ts";
import { LocalCa } from "../../../support/local_ca.ts";
import { stub } from "../../../support/stubs.ts";
import { gatewayTo, turnOf } from "../../../support/turns.ts";
import { soon } from "../../../support/waits.ts";

/** What a stream sends before its end, and after how many such streams the reply comes. */
const MOMENTS = [
  ["", 7],
  [":\n\n", 7],
  ['id: 1\ndata: {"event":"progress"', 7],
  ['id: 1\ndata: {"event":"progress"}\n\n', 4], // Five that only repeat it are the end.
] as const;

/** The frames that end a stream; `undefined` if the connection ends without one. */
const ENDS: Readonly<
  Record<string, (stream: number) => Uint8Array | undefined>
> = {
  "CANCEL": (stream) => resetStream(stream, 8),
  "NO_ERROR": (stream) => resetStream(stream, 0),
  "INTERNAL_ERROR": (stream) => resetStream(stream, 2),
  "GOAWAY and a closed connection": (stream) => goAway(stream, 0),
  "a closed connection": () => undefined,
};

for (const [name, end] of Object.entries(ENDS)) {
  Deno.test(`a run whose streams of HTTP/2 end by ${name} is followed to its reply, after headers, a comment, within a line and after an event`, async () => {
    using ca = new LocalCa();
    const caCerts = [await Deno.readTextFile(ca.certificate)];
    const { createHttpClient } = Deno;
    using _ = stub(Deno, {
      createHttpClient: (options) => createHttpClient({ ...options, caCerts }),
    });
    for (const [text, count] of MOMENTS) {
      let left = count;
      await using service = await FaultyService.start(async (connection) => {
        for await (const part of partsOf(connection, "h2")) {
          if (part.place !== "after the body") continue;
          if (part.operation !== "stream" || left-- <= 0) {
            await part.answer();
            continue;
          }
          await connection.write(openAnswer(part.stream, text));
          const frames = end(part.stream);
          if (frames !== undefined) await connection.write(frames);
          if (name.includes("closed")) return connection.destroy();
        }
      }, { tls: ca.issue("127.0.0.1"), protocol: "h2" });
      await using gateway = gatewayTo(service);
      const turn = Array.fromAsync(turnOf(gateway));
      const told = (await soon(turn, () => text))
        .map(({ type }) => type).filter((type) => type !== "wait");
      const steps = count === 4 ? ["progress"] : [];
      assertEquals(told, ["run", ...steps, "reply"], text);
    }
  });
}
