/**
 * Compares the npm package and the Debian packages in `dist/` with what they are made
 * of: the files of `dist/SHA256SUMS`, and the sources. Then it adds their sums to that
 * file. (The job that makes them runs programs of other people.)
 *
 * @module
 */
import { addChecksums, checkSums } from "../checksums.ts";
import { runCommand } from "../run_command.ts";
import { runTool, ToolError } from "../tool_error.ts";
import {
  control,
  debianFiles,
  debianName,
  MANUAL,
  TARGETS,
} from "./debian_package.ts";
import { npmFiles, npmName } from "./npm_package.ts";

const DIST = `${import.meta.dirname}/../../dist`;

/** The modes of files in packages: none runs as somebody else. */
const MODES: readonly number[] = [0o644, 0o755];

/** What a package has to contain: `undefined` for a text that nothing runs. */
type Contents = Readonly<Record<string, Uint8Array | undefined>>;

/**
 * Checks the npm package, which is a tar archive.
 *
 * @throws {ToolError} If it contains anything that does not come from the sources.
 */
export async function checkNpmPackage(path: string): Promise<void> {
  await using folder = await Unpacked.make();
  await runCommand(["tar", "-xzpf", path, "-C", folder.path]);
  const expected: Record<string, Uint8Array> = {};
  for (const [name, text] of Object.entries(await npmFiles())) {
    expected[`package/${name}`] = new TextEncoder().encode(text);
  }
  compare(path, await folder.contents(), expected);
}

/**
 * Checks a Debian package.
 *
 * @throws {ToolError} If it contains anything that does not come from the sources, such as a
 * script that runs at the installation.
 */
export async function checkDebianPackage(
  path: string,
  architecture: string,
): Promise<void> {
  const list = await runCommand(["dpkg-deb", "--contents", path]);
  for (const line of list.trimEnd().split("\n")) {
    if (/^[d-]\S+ root\/root /.test(line)) continue;
    throw new ToolError(`${path}: not a file or folder of root: ${line}`);
  }
  await using folder = await Unpacked.make();
  await runCommand(["dpkg-deb", "--raw-extract", path, folder.path]);
  const contents = await folder.contents();
  const installed = Object.entries(contents)
    .filter(([name]) => !name.startsWith("DEBIAN/"))
    .reduce((sum, [, bytes]) => sum + bytes.length, 0);
  const expected: Record<string, Uint8Array | undefined> = await debianFiles(
    architecture,
  );
  expected[MANUAL] = undefined;
  expected["DEBIAN/control"] = control(architecture, installed);
  expected["DEBIAN/md5sums"] = undefined;
  compare(path, contents, expected);
}

function compare(
  path: string,
  contents: Readonly<Record<string, Uint8Array>>,
  expected: Contents,
): void {
  for (const name of Object.keys(contents)) {
    if (!Object.hasOwn(expected, name)) {
      throw new ToolError(
        `${path} contains ${name}, which is not a part of it`,
      );
    }
  }
  for (const [name, bytes] of Object.entries(expected)) {
    const found = contents[name];
    if (found === undefined) throw new ToolError(`${path} lacks ${name}`);
    if (bytes !== undefined && !isSame(found, bytes)) {
      throw new ToolError(`${path}: ${name} differs from what it is made of`);
    }
  }
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length &&
    one.every((byte, index) => byte === other[index]);
}

/** A temporary folder into which a package is unpacked. */
class Unpacked implements AsyncDisposable {
  private constructor(readonly path: string) {}

  static async make(): Promise<Unpacked> {
    return new Unpacked(
      await Deno.makeTempDir({ dir: DIST, prefix: ".open-" }),
    );
  }

  /**
   * The files below the folder, by their paths.
   *
   * @throws {ToolError} If there is anything but folders, and files with usual modes.
   */
  async contents(folder = ""): Promise<Record<string, Uint8Array>> {
    const contents: Record<string, Uint8Array> = {};
    for await (const { name } of Deno.readDir(`${this.path}/${folder}`)) {
      const path = folder + name;
      const file = `${this.path}/${path}`;
      const { isFile, isDirectory, mode } = await Deno.lstat(file);
      if (isDirectory) {
        Object.assign(contents, await this.contents(`${path}/`));
      } else if (isFile && MODES.includes((mode ?? 0) & 0o7777)) {
        contents[path] = await Deno.readFile(file);
      } else {
        throw new ToolError(`${path} in a package is not a usual file`);
      }
    }
    return contents;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.path, { recursive: true });
  }
}

async function main(): Promise<void> {
  await checkSums(DIST);
  await checkNpmPackage(`${DIST}/${npmName()}`);
  for (const architecture of Object.keys(TARGETS)) {
    const path = `${DIST}/${debianName(architecture)}`;
    await checkDebianPackage(path, architecture);
  }
  await addChecksums(DIST);
}

if (import.meta.main) await runTool(main);
