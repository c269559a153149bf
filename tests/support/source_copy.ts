import { cp } from "node:fs/promises";
import { runCommand } from "../../tools/run_command.ts";
import { type ProgramOutput, programOutput } from "./program_output.ts";

const ROOT = `${import.meta.dirname}/../..`;

/** The files that the program is built from. */
const SOURCES = [
  ...["deno.json", "deno.lock", "main.ts", "lib", "tools", "docs", ".ci"],
  ...["CHANGELOG.md", "README.md", "LICENSE", "THIRD-PARTY.md"],
];

/** A copy of the sources, to be built in another place than this one. */
export class SourceCopy implements AsyncDisposable {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async make(): Promise<SourceCopy> {
    const folder = await Deno.makeTempDir();
    for (const name of SOURCES) {
      await cp(`${ROOT}/${name}`, `${folder}/${name}`, { recursive: true });
    }
    return new SourceCopy(folder);
  }

  /** Gives it a history: packages have the time of its last commit. */
  async commit(): Promise<void> {
    const user = ["-c", "user.name=t", "-c", "user.email=t"];
    const env = {
      GIT_CONFIG_GLOBAL: `${this.folder}/no-config`, // the contributor may sign
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_COMMITTER_DATE: "2026-11-24T03:21:04Z",
    };
    for (const args of [["init"], ["add", "--all"], ["commit", "-mRelease"]]) {
      const git = ["git", "-C", this.folder, ...user];
      await runCommand([...git, ...args], { env });
    }
  }

  /**
   * Runs Deno in the copy; `env` is added to the environment, which names no
   * other compiler.
   */
  deno(
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<ProgramOutput> {
    const { COMPILE_DENO: _, DENORT_BIN: __, ...rest } = Deno.env.toObject();
    return programOutput([Deno.execPath(), ...args], {
      cwd: this.folder,
      clearEnv: true,
      env: { ...rest, NO_COLOR: "1", ...env },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}
