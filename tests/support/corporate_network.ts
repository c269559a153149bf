import { assertEquals } from "@std/assert";
import { type ClientOutput, runClient } from "./client_process.ts";
import { Editor } from "./editor.ts";
import { LocalCa } from "./local_ca.ts";
import { type ReferenceService, TEST_KEY } from "./service/service.ts";

export const PROMPT = "count to 3";
export const REPLY = "1\n2\n3";

/** A name that only the proxy can resolve. */
export const NAME = "service.test";

/** A name of this machine that is not a loopback name. Windows does not resolve it. */
export const DIRECT = "0.0.0.0";

export const ca = new LocalCa();
addEventListener("unload", () => ca[Symbol.dispose]());
export const tls = ca.issue(NAME, "127.0.0.1", "localhost", DIRECT);

export function port({ url }: ReferenceService): number {
  return Number(new URL(url).port);
}

/** The environment of a machine in a company. */
export function environment(
  baseUrl: string,
  env: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return {
    APP_API_KEY: TEST_KEY,
    APP_BASE_URL: baseUrl,
    DENO_CERT: ca.certificate,
    // Deno itself checks for updates, at another host than the client's.
    DENO_NO_UPDATE_CHECK: "1",
    ...env,
  };
}

/** Runs one prompt in interactive mode; standard error then contains only failures. */
export function runPrompt(
  baseUrl: string,
  env: Readonly<Record<string, string>>,
): Promise<ClientOutput> {
  return runClient({
    args: ["--quiet"],
    env: environment(baseUrl, env),
    stdin: `${PROMPT}\n`,
  });
}

export const GOOD: ClientOutput = { code: 0, stdout: `${REPLY}\n`, stderr: "" };

/**
 * A failed operation: the number of its tunnel, and the start of the error. The
 * stream of a run comes over the run's own tunnel.
 */
export const OPERATIONS = [
  ["create thread", 1, "Cannot start a chat"],
  ["create run", 2, "Cannot start a run"],
] as const;

/** Asserts that the first prompt of an editor fails so, and that the second one works. */
export async function failsOnce(
  baseUrl: string,
  env: Readonly<Record<string, string>>,
  { operation, message }: {
    readonly operation: string;
    readonly message: string;
  },
): Promise<void> {
  await using editor = new Editor({ env: environment(baseUrl, env) });
  await editor.request("initialize");
  const ask = async () => {
    const created = await editor.request("session/new");
    if (created.error !== undefined) return created;
    return await editor.prompt(created.result.sessionId, PROMPT);
  };

  const { error } = await ask();

  const code = operation === "create thread" ? -32010 : -32603;
  assertEquals(error, { code, message, data: { operation } });
  assertEquals((await ask()).result, { stopReason: "end_turn" });
}
