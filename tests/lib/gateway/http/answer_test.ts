import { assertEquals, assertRejects } from "@std/assert";
import { RequestError } from "../../../../lib/gateway/failure/failure.ts";
import { readId } from "../../../../lib/gateway/http/answer.ts";
import { Redactor } from "../../../../lib/text.ts";
import { TEST_KEY } from "../../../support/service/service.ts";
import { testRows } from "../../../support/tables.ts";

const MIB = 1024 * 1024;

/** Reads the id of an answer to the creation of a thread, or of a run. */
function read(
  operation: "create thread" | "create run",
  { url, body, headers = {} }: {
    readonly url: string;
    readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
    readonly headers?: Record<string, string>;
  },
) {
  return readId({
    ...{ operation, url },
    response: { status: 200, headers: new Headers(headers), body },
    signal: new AbortController().signal,
    redactor: new Redactor(TEST_KEY),
  });
}

/**
 * Answers, with their texts in JSON, and why they contain no id, which is FIELD. After a
 * cut, nothing says that the same answer would come again.
 */
testRows(
  "readId() of {text} with {headers} over {url} says: {reason} (interface 7)",
  "url | text | headers | stage | reason",
  String.raw`
http:  | "{\"thread_id\":\"t"            | {}                      | unclear | The connection was cut before the end of the answer (status 200)
https: | "{"                             | {}                      | unclear | The connection was cut before the end of the answer (status 200)
http:  | "{"                             | {"content-length":"2"}  | unclear | The connection was cut before the end of the answer (status 200)
https: | ""                              | {}                      | unclear | The connection was cut before the end of the answer (status 200)
https: | "{"                             | {"content-length":"1"}  | refused | The answer (status 200) is not a JSON object
https: | ""                              | {"content-length":"0"}  | refused | The answer (status 200) is not a JSON object
http:  | ""                              | {}                      | refused | The answer (status 200) is not a JSON object
http:  | "{\"thread_id\": t}\n"          | {}                      | refused | The answer (status 200) is not a JSON object
http:  | "\"t"                           | {}                      | refused | The answer (status 200) is not a JSON object
http:  | "[]"                            | {}                      | refused | The answer (status 200) is not a JSON object
http:  | "OK"                            | {"content-type":"text/html"} | refused | The answer (status 200) is not a JSON object
http:  | "<p>"                           | {"content-type":"text/html"} | refused | The service answered 200 with a web page, perhaps the sign-in page of a network or proxy
http:  | "<html>"                        | {}                      | refused | The service answered 200 with a web page, perhaps the sign-in page of a network or proxy
http:  | "{\"FIELD\":\"t\"${
    " ".repeat(MIB)
  }}" | {}                | refused | The answer is larger than 1 MiB
http:  | "{\"other\":1}"                 | {}                      | refused | The answer contains no FIELD, only: other
http:  | "{}"                            | {}                      | refused | The answer contains no FIELD
http:  | "{\"error\":\"No quota\"}"      | {}                      | refused | The answer contains no FIELD. The service said: No quota
http:  | "{\"FIELD\":null}"              | {}                      | refused | The FIELD in the answer must be a string
http:  | "{\"FIELD\":1}"                 | {}                      | refused | The FIELD in the answer must be a string
http:  | "{\"FIELD\":[\"a\"]}"           | {}                      | refused | The FIELD in the answer must be a string
http:  | "{\"FIELD\":\"\"}"              | {}                      | refused | The answer contains a malformed FIELD
http:  | "{\"FIELD\":\".\"}"             | {}                      | refused | The answer contains a malformed FIELD
http:  | "{\"FIELD\":\"..\"}"            | {}                      | refused | The answer contains a malformed FIELD
http:  | "{\"FIELD\":\"\\ud800\"}"       | {}                      | refused | The answer contains a malformed FIELD
http:  | "{\"FIELD\":\"${
    "x".repeat(1025)
  }\"}" | {}                | refused | The answer contains a malformed FIELD
http:  | "{\"FIELD\":\"${
    "ü".repeat(513)
  }\"}"  | {}                | refused | The answer contains a malformed FIELD
http:  | "{\"FIELD\":\"run-${TEST_KEY.toUpperCase()}-1\"}" | {}    | refused | The answer contains a malformed FIELD
`,
  async ({ url, stage, reason, ...row }) => {
    const headers = JSON.parse(row.headers);
    for (const operation of ["create thread", "create run"] as const) {
      const isThread = operation === "create thread";
      const fill = (it: string) =>
        it.replace("FIELD", isThread ? "thread_id" : "run_id");
      const text = fill(JSON.parse(row.text));
      const body = new Blob([text]).stream();
      const answer = { url: `${url}//agent.test`, body, headers };
      const { failure } = await assertRejects(
        () => read(operation, answer),
        RequestError,
      );
      assertEquals(failure.reason, fill(reason));
      const isRefused = isThread && stage === "refused";
      assertEquals(failure.stage, isRefused ? "refused" : "perhaps taken");
      assertEquals(failure.problem, undefined); // It is not sent again.
    }
  },
);

Deno.test("readId() reads 1 MiB, labelled as a web page, and of an endless answer no more", async () => {
  const url = "http://agent.test";
  const headers = { "content-type": "text/html" };
  const text = '{"thread_id":"t"}'.padEnd(MIB);
  const body = new Blob([text]).stream();
  assertEquals(await read("create thread", { url, body, headers }), "t");
  let chunks = 0;
  const endless = new ReadableStream({
    type: "bytes",
    pull: (controller) => {
      chunks++;
      controller.enqueue(new Uint8Array(10_000).fill(0x20));
    },
  });
  const { failure } = await assertRejects(
    () => read("create run", { url, body: endless }),
    RequestError,
  );
  assertEquals([failure.reason, chunks < 120], [
    "The answer is larger than 1 MiB",
    true,
  ]);
});
