import { loadSettings, type Settings } from "../../lib/settings.ts";
import { stub } from "./stubs.ts";

/** The sources of settings. */
export interface SettingsSources {
  /** The environment variables. All others are unset. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The `.env` file. By default there is none. */
  readonly dotenv?: Dotenv;
}

/** The text of `.env`, or a function that creates it. */
export type Dotenv = string | Uint8Array | ((path: string) => void);

/** The variables that name proxies, in upper and lower case. */
export const PROXY_VARIABLES = ["http_proxy", "https_proxy", "all_proxy"]
  .flatMap((name) => [name, name.toUpperCase()]);

/** Calls `loadSettings()` with the given sources and no others. */
export function loadSettingsIn(
  sources: SettingsSources & { readonly baseUrl?: string },
  warn: (line: string) => void = () => {},
): Settings {
  const { baseUrl } = sources;
  return within(sources, () => loadSettings(baseUrl, warn));
}

/**
 * Calls `act` in a new folder with these variables alone, and returns its result. It
 * restores the environment and the current folder.
 */
export function within<T>(
  { env = {}, dotenv }: SettingsSources,
  act: () => T,
): T {
  using folder = new Folder(dotenv);
  const cwd = Deno.cwd();
  try {
    Deno.chdir(folder.path);
    return withVariables(env, act);
  } finally {
    Deno.chdir(cwd);
  }
}

/** Calls `act` with these variables of the environment, and no others. */
export function withVariables<T>(
  variables: Readonly<Record<string, string | undefined>>,
  act: () => T,
): T {
  const left = new Map(Object.entries(variables));
  using _ = stub(Deno.env, {
    get: (name) => left.get(name),
    has: (name) => left.get(name) !== undefined,
    delete: (name) => void left.delete(name),
  });
  return act();
}

/** A new folder with a `.env`, if one is given. Dispose of it to remove it. */
export class Folder implements Disposable {
  readonly path: string = Deno.makeTempDirSync();

  constructor(dotenv?: Dotenv) {
    const path = `${this.path}/.env`;
    if (typeof dotenv === "string") Deno.writeTextFileSync(path, dotenv);
    else if (typeof dotenv === "function") dotenv(path);
    else if (dotenv !== undefined) Deno.writeFileSync(path, dotenv);
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.path, { recursive: true });
  }
}
