/** A certificate chain and its key, PEM both: what a server needs to speak TLS. */
export interface Leaf {
  readonly cert: string;
  readonly key: string;
}

/**
 * A private certificate authority, created by `openssl` in a temporary folder.
 * Dispose of it to remove the folder.
 */
export class LocalCa implements Disposable {
  readonly #folder = Deno.makeTempDirSync();
  #leaves = 0;

  constructor() {
    this.#openssl(
      ["req", "-x509", ...NEW_KEY, "-keyout", "ca.key", "-out", "ca.pem"],
      ["-days", "99", "-subj", `/CN=Test CA ${crypto.randomUUID()}`],
      ["-addext", "basicConstraints=critical,CA:TRUE"],
      ["-addext", "keyUsage=critical,keyCertSign"],
    );
  }

  /** The path of the authority's certificate. */
  get certificate(): string {
    return `${this.#folder}/ca.pem`;
  }

  /** Issues a certificate for these names or IP addresses. */
  issue(...names: readonly string[]): Leaf {
    return this.#issue(names, ["-days", "30"]);
  }

  /** Issues a certificate that expired at the end of the year 2020. */
  issueExpired(...names: readonly string[]): Leaf {
    const dates = ["20200101000000Z", "-enddate", "20201231235900Z"];
    return this.#issue(names, ["-startdate", ...dates]);
  }

  #issue(names: readonly string[], dates: readonly string[]): Leaf {
    const leaf = `leaf-${++this.#leaves}`;
    const alternatives = names.map((name) =>
      /^[\d.]+$|:/.test(name) ? `IP:${name}` : `DNS:${name}`
    );
    const write = (name: string, text: string) =>
      Deno.writeTextFileSync(`${this.#folder}/${leaf}.${name}`, text);
    write("index", "");
    write("serial", "01");
    write(
      "cnf",
      `[ca]
      default_ca=own
      [own]
      policy=any
      new_certs_dir=.
      database=${leaf}.index
      serial=${leaf}.serial
      x509_extensions=server
      [any]
      commonName=supplied
      [server]
      basicConstraints=critical,CA:FALSE
      subjectAltName=${alternatives}`,
    );
    this.#openssl(
      ["req", "-new", ...NEW_KEY, "-keyout", `${leaf}.key`],
      ["-out", `${leaf}.csr`, "-subj", "/CN=Test service"],
    );
    // Not `x509`, whose older releases cannot choose dates, nor `req -CA`, which LibreSSL
    // lacks.
    this.#openssl(
      ["ca", "-batch", "-notext", "-config", `${leaf}.cnf`, "-md", "sha256"],
      ["-in", `${leaf}.csr`, "-out", `${leaf}.pem`, ...dates],
      ["-cert", "ca.pem", "-keyfile", "ca.key"],
    );
    const read = (name: string) =>
      Deno.readTextFileSync(`${this.#folder}/${leaf}.${name}`);
    return { cert: read("pem"), key: read("key") };
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.#folder, { recursive: true });
  }

  #openssl(...args: readonly (readonly string[])[]): void {
    const { success, stderr } = new Deno.Command("openssl", {
      args: args.flat(),
      cwd: this.#folder,
    }).outputSync();
    if (!success) throw new Error(new TextDecoder().decode(stderr));
  }
}

const NEW_KEY = ["-newkey", "rsa:2048", "-nodes"];
