import { assertEquals, assertFalse } from "@std/assert";
import { runClient } from "../support/client_process.ts";
import {
  FaultyService,
  unreachable,
} from "../support/faulty_service/service.ts";
import { programOutput } from "../support/program_output.ts";
import { TEST_KEY } from "../support/service/service.ts";

// The operating system reports failures in the language of its user, which `LC_ALL`
// chooses. Wine takes it from the process that starts these tests, so .ci/windows runs
// this file once for each language.

const onWine = Deno.env.has("ON_WINE");
const LC_ALL = onWine ? Deno.env.get("LC_ALL") ?? "" : "de_DE.UTF-8";

// Deno on Linux reports them in English, whatever the language is.
if (onWine) {
  Deno.test(`Wine reports failures in the language of ${LC_ALL}`, async () => {
    const { hostname, port } = new URL(unreachable());
    const address = JSON.stringify({ hostname, port: Number(port) });
    const script =
      `await Deno.connect(${address}).catch((error) => console.log(error.message))`;
    const command = [Deno.execPath(), "eval", "--no-config", script];
    const { stdout } = await programOutput(command, { env: { LC_ALL } });
    assertFalse(stdout.includes("Connection refused"));
  });
}

Deno.test(`in the language of ${LC_ALL}, -p says in English why the service cannot be reached, and a refused connection is retried`, async () => {
  await using service = await FaultyService.start(async (connection) => {
    await connection.read();
    connection.reset();
  });
  const http = unreachable();
  const https = unreachable().replace("http:", "https:");
  const unknown = "https://agent-gateway.invalid";
  const advice = "Check the base URL, the network and the service.";
  const refused = `cannot be reached (connection refused). ${advice}`;
  const told = {
    [http]: refused,
    [https]: refused,
    [unknown]:
      `cannot be reached (the name agent-gateway.invalid cannot be resolved). ${advice}`,
    [service.url]:
      "reset the connection. Check the base URL, or try again later.",
  };

  for (const [url, message] of Object.entries(told)) {
    const env = { APP_API_KEY: TEST_KEY, APP_BASE_URL: url, LC_ALL };
    const output = await runClient({ args: ["-p", "hello"], env });

    const lines = output.stderr.trimEnd().split("\n");
    const error = `agent-gateway: error: ${url} ${message}`;
    assertEquals([output.code, lines.at(-1)], [3, error]);
    const retries = lines.filter((line) => line.includes(", again in "));
    assertEquals(message !== refused || retries.length > 0, true);
  }
});
