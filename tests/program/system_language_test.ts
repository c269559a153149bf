import { assertEquals, assertFalse } from "@std/assert";
import { runClient, settings } from "../support/client_process.ts";
import { Editor } from "../support/editor.ts";
import { Folder } from "../support/environment.ts";
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

/** What the system says about a port at which nothing listens. */
async function textOfRefusal(): Promise<string> {
  const { hostname, port } = new URL(unreachable());
  const address = JSON.stringify({ hostname, port: Number(port) });
  const script =
    `await Deno.connect(${address}).catch((error) => console.log(error.message))`;
  const command = [Deno.execPath(), "eval", "--no-config", script];
  return (await programOutput(command, { env: { LC_ALL } })).stdout;
}

// Deno on Linux reports them in English, whatever the language is.
if (onWine) {
  Deno.test(`Wine reports failures in the language of ${LC_ALL}`, async () => {
    assertFalse((await textOfRefusal()).includes("Connection refused"));
  });
}

const SERVICE = "Check the base URL, the network and the service.";

Deno.test(`in the language of ${LC_ALL}, a refused connection is retried three times`, async () => {
  const url = unreachable();
  const env = { ...settings({ url }), LC_ALL };
  await using editor = new Editor({ env, args: ["--verbose"] });
  await editor.request("initialize");

  const { error } = await editor.request("session/new");
  const { stderr } = await editor.finish();

  assertEquals(
    error?.message,
    `${url} cannot be reached (connection refused). ${SERVICE}`,
  );
  assertEquals(stderr.match(/ create thread request=/g)?.length, 4, stderr);
});

Deno.test(`in the language of ${LC_ALL}, -p says in English why the service cannot be reached: exit 3`, async () => {
  await using service = await FaultyService.start(async (connection) => {
    await connection.read();
    connection.reset();
  });
  const refused = unreachable().replace("http:", "https:");
  const unknown = "https://agent-gateway.invalid";
  const told = {
    [refused]: `${refused} cannot be reached (connection refused). ${SERVICE}`,
    [unknown]:
      `${unknown} cannot be reached (the name agent-gateway.invalid cannot be resolved). ${SERVICE}`,
    [service.url]:
      `${service.url} reset the connection. Check the base URL, or try again later.`,
  };

  for (const [url, message] of Object.entries(told)) {
    using folder = new Folder(
      `APP_API_KEY=${TEST_KEY}\nAPP_BASE_URL=${url}\n`,
    );
    const args = ["-q", "-p", "hello"];
    const env = { LC_ALL };
    const output = await runClient({ args, env, cwd: folder.path });

    const stderr = `agent-gateway: error: ${message}\n`;
    assertEquals(output, { code: 3, stdout: "", stderr });
  }
});
