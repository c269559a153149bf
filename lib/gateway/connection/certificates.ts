import { environmentVariable } from "../../io.ts";
import { joinSafe, type Redacted, type Redactor, safe } from "../../text.ts";

let trusted: readonly string[] = [];
let loading: Promise<void> | undefined;

/** The certificates of this system that are trusted, as PEM; empty until loaded. */
export function trustedCertificates(): readonly string[] {
  return trusted;
}

/**
 * Loads the system's certificates, once. Call it if Deno does not know a server's CA:
 * nothing was sent then.
 *
 * @param tried The certificates that were trusted before.
 * @returns Whether another attempt, with {@linkcode trustedCertificates}, may
 * succeed.
 */
export async function loadCertificates(
  tried: readonly string[],
): Promise<boolean> {
  if (tried.length > 0) return false;
  loading ??= loadOnce();
  await loading;
  return trusted.length > 0;
}

/**
 * Loads this system's certificates, which may include a company's own: it takes 50 ms.
 * There are none if `DENO_TLS_CA_STORE` is set, without the permission `--allow-sys`,
 * or with Deno before 2.8.
 */
async function loadOnce(): Promise<void> {
  if (environmentVariable("DENO_TLS_CA_STORE")) return;
  try {
    const { getCACertificates } = await import("node:tls");
    trusted = getCACertificates("system").filter(isUsable);
  } catch {
    // Not fatal: if a certificate is refused, the error says what to set.
  }
}

/** The file that `DENO_CERT` names, in quotes. */
function certificateFile(redactor: Redactor): Redacted | undefined {
  const path = environmentVariable("DENO_CERT") ?? "";
  return path === "" ? undefined : safe`"${redactor.show(path)}"`;
}

/** The variables that are set and choose which certificates Deno trusts. */
export function certificateVariables(redactor: Redactor): Redacted {
  const file = certificateFile(redactor);
  const store = environmentVariable("DENO_TLS_CA_STORE");
  const names = [
    file && safe`DENO_CERT (${file})`,
    store && safe`DENO_TLS_CA_STORE`,
  ];
  return joinSafe(names, ", ");
}

/** What to do if a certificate comes from a CA that is not trusted. */
export function issuerAdvice(redactor: Redactor): Redacted {
  const file = certificateFile(redactor);
  if (file !== undefined) {
    return safe`Check that ${file} (DENO_CERT) contains the CA's certificate as PEM`;
  }
  const store = environmentVariable("DENO_TLS_CA_STORE") ?? "";
  return trusted.length > 0 || store.includes("system")
    ? safe`Add the CA to this system's store, or name its file in DENO_CERT`
    : safe`Trust the CA: DENO_TLS_CA_STORE=system, or DENO_CERT=FILE`;
}

/** Whether Deno accepts a certificate: a rejected one would make each client fail. */
function isUsable(certificate: string): boolean {
  try {
    Deno.createHttpClient({ caCerts: [certificate] }).close();
    return true;
  } catch {
    return false;
  }
}
