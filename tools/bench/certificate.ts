import type { Certificate } from "./load_service.ts";
import { Unavailable } from "./subjects.ts";

/** Makes an authority and its certificate for 127.0.0.1, if there is openssl. */
export async function makeCertificate(
  folder: string,
): Promise<Certificate | Unavailable> {
  const path = (name: string) => `${folder}/${name}.pem`;
  const request = ["req", "-x509", "-newkey", "ec", "-nodes", "-days", "1"];
  const curve = ["-pkeyopt", "ec_paramgen_curve:prime256v1"];
  const files = (name: string) => [
    ...["-keyout", path(`${name}-key`), "-out", path(name)],
    ...["-subj", `/CN=${name}`],
  ];
  const signer = ["-CA", path("authority"), "-CAkey", path("authority-key")];
  const leaf = [
    ...["-addext", "subjectAltName=IP:127.0.0.1"],
    ...["-addext", "basicConstraints=critical,CA:FALSE"],
  ];
  try {
    await openssl([...request, ...curve, ...files("authority")]);
    await openssl([
      ...[...request, ...curve, ...files("service")],
      ...[...signer, ...leaf],
    ]);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return new Unavailable(error.message);
  }
  return {
    authority: path("authority"),
    certificate: path("service"),
    privateKey: path("service-key"),
  };
}

async function openssl(args: readonly string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command("openssl", {
    args: [...args],
    stdin: "null",
    stdout: "null",
  }).output();
  if (success) return;
  const reason = new TextDecoder().decode(stderr).trim();
  throw new Error(`openssl failed: ${reason}`);
}
