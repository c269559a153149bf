import { LocalCa } from "./local_ca.ts";
import { TEST_KEY } from "./service/service.ts";

/** A name that only the proxy can resolve. */
export const NAME = "service.test";

/** A name of this machine that is not a loopback name. Windows does not resolve it. */
export const DIRECT = "0.0.0.0";

export const ca = new LocalCa();
addEventListener("unload", () => ca[Symbol.dispose]());
export const tls = ca.issue(NAME, "127.0.0.1", "localhost", DIRECT);

/** The environment of a machine in a company. */
export function environment(
  baseUrl: string,
  env: Readonly<Record<string, string>> = {},
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
