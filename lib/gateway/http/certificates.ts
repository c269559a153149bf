import { environmentVariable } from "../../io.ts";
import { innerReason, UNKNOWN_ISSUER } from "../failure/library_error.ts";

let trusted: readonly string[] = [];
let loading: Promise<readonly string[]> | undefined;

/** The certificates to trust besides Deno's own, as PEM: none until they are loaded. */
export function trustedCertificates(): readonly string[] {
  return trusted;
}

/**
 * Sets up TLS; once more with the system's certificates if Deno's own do not know
 * the issuer of the other end's, because then nothing was sent.
 *
 * @param connect Sets it up with {@linkcode trustedCertificates}.
 */
export async function trusting<T>(
  connect: (isAgain: boolean) => Promise<T>,
): Promise<T> {
  const isComplete = trusted.length > 0;
  try {
    return await connect(false);
  } catch (error) {
    if (isComplete || !UNKNOWN_ISSUER.test(innerReason(error))) throw error;
    if ((await systemCertificates()).length === 0) throw error;
    return await connect(true);
  }
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
