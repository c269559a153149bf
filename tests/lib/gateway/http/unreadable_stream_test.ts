import { assertRejects } from "@std/assert";
import { RequestError } from "../../../../lib/gateway/failure/failure.ts";
import { refuseUnreadable } from "../../../../lib/gateway/http/unreadable_stream.ts";
import { Redactor } from "../../../../lib/text.ts";
import { TEST_KEY } from "../../../support/service/service.ts";

Deno.test("a compressed stream is refused as that, also if its connection has broken already", async () => {
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (controller) => controller.error(new TypeError("broken")),
  });
  const headers = new Headers({ "content-encoding": "gzip" });
  await assertRejects(
    () =>
      refuseUnreadable({
        ...{ operation: "stream run", url: "http:" },
        response: { status: 200, headers, body },
        signal: new AbortController().signal,
        redactor: new Redactor(TEST_KEY),
      }),
    RequestError,
    "The stream is compressed",
  );
});
