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
    const file = this.#request(names);
    // Not `req -CA`, which LibreSSL lacks.
    this.#openssl(
      ["x509", "-req", "-in", `${file}.csr`, "-out", `${file}.pem`],
      ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"],
      ["-days", "30", "-sha256", "-extfile", `${file}.ext`],
    );
    return this.#leaf(file);
  }

  /** Issues a certificate that expired at the end of the year 2020. */
  issueExpired(...names: readonly string[]): Leaf {
    const file = this.#request(names);
    const write = (name: string, text: string) =>
      Deno.writeTextFileSync(`${this.#folder}/${file}.${name}`, text);
    write("index", "");
    write("serial", "01");
    write(
      "cnf",
      "[ca]\ndefault_ca=own\n[own]\npolicy=any\nnew_certs_dir=.\n" +
        `database=${file}.index\nserial=${file}.serial\n` +
        "[any]\ncommonName=supplied\n",
    );
    // `x509` of older releases cannot choose the dates.
    this.#openssl(
      ["ca", "-batch", "-notext", "-config", `${file}.cnf`, "-md", "sha256"],
      ["-in", `${file}.csr`, "-out", `${file}.pem`, "-extfile", `${file}.ext`],
      ["-cert", "ca.pem", "-keyfile", "ca.key"],
      ["-startdate", "20200101000000Z", "-enddate", "20201231235900Z"],
    );
    return this.#leaf(file);
  }

  /** Makes a key and a request for a certificate; returns the name of its files. */
  #request(names: readonly string[]): string {
    const file = `leaf-${++this.#leaves}`;
    const alternatives = names.map((name) =>
      /^[\d.]+$|:/.test(name) ? `IP:${name}` : `DNS:${name}`
    );
    Deno.writeTextFileSync(
      `${this.#folder}/${file}.ext`,
      `basicConstraints=critical,CA:FALSE\nsubjectAltName=${alternatives}\n`,
    );
    this.#openssl(
      ["req", "-new", ...NEW_KEY, "-keyout", `${file}.key`],
      ["-out", `${file}.csr`, "-subj", "/CN=Test service"],
    );
    return file;
  }

  #leaf(file: string): Leaf {
    return {
      cert: Deno.readTextFileSync(`${this.#folder}/${file}.pem`),
      key: Deno.readTextFileSync(`${this.#folder}/${file}.key`),
    };
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
