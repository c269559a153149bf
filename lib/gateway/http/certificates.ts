import { environmentVariable } from "../../io.ts";

let trusted: readonly string[] = [];
let loading: Promise<readonly string[]> | undefined;

/** The certificates to trust besides Deno's own, as PEM: none until they are loaded. */
export function trustedCertificates(): readonly string[] {
  return trusted;
}

/**
 * Trusts the certificate authorities of this system from now on, such as a company's
 * own. They take 50 ms to load, so they are asked for when an issuer is not known.
 *
 * @returns The certificates; none if `DENO_TLS_CA_STORE` says whom to trust, without
 * `--allow-sys`, and with Deno before 2.8.
 */
export function systemCertificates(): Promise<readonly string[]> {
  return loading ??= load();
}

async function load(): Promise<readonly string[]> {
  if (environmentVariable("DENO_TLS_CA_STORE")) return [];
  try {
    const { getCACertificates } = await import("node:tls");
    trusted = getCACertificates("system").filter(isUsable);
  } catch {
    // The error about the certificate says what to set.
  }
  return trusted;
}

/** One certificate that cannot be used would make the whole client fail. */
function isUsable(certificate: string): boolean {
  try {
    Deno.createHttpClient({ caCerts: [certificate] }).close();
    return true;
  } catch {
    return false;
  }
}
