import { environmentVariable } from "./io.ts";
import { dotenvValue, isAssigned, readDotenv } from "./settings/dotenv_file.ts";
import { type Proxy, takeProxy } from "./settings/proxy.ts";
import { SettingsError } from "./settings/settings_error.ts";

export type { Proxy } from "./settings/proxy.ts";
export { SettingsError } from "./settings/settings_error.ts";

export const DEFAULT_BASE_URL = "https://the-brain.example";

const KEY = "APP_API_KEY";
const BASE_URL = "APP_BASE_URL";
const MAX_KEY_LENGTH = 8192;

export interface Settings {
  /** The validated API key. Never shown; see {@linkcode maskKey}. */
  readonly apiKey: string;
  /** The validated base URL, without a trailing slash. */
  readonly baseUrl: string;
  /** Whether its host is this machine: then no proxy is used. */
  readonly isLocal: boolean;
  readonly proxy: Proxy | undefined;
  /** The sources of key and base URL, for troubleshooting. */
  readonly sources: SettingSources;
}

export interface SettingSources {
  readonly apiKey: "environment" | ".env";
  readonly baseUrl: "--base-url" | "environment" | ".env" | "built-in";
}

export interface LoadSettingsOptions {
  readonly baseUrl?: string | undefined;
  /** Called with one line for each thing that is ignored, with the reason. */
  readonly warn: (line: string) => void;
}

/**
 * Loads the settings (interface 5): flags win over the environment, which wins over a
 * `.env` file in the current folder. `APP_BASE_URL` counts there only if the key comes
 * from it as well: a folder must never choose where the user's own key is sent. The
 * variables about proxies are removed from the environment.
 *
 * @throws {SettingsError} If the key is missing, or it, the base URL or the proxy of the
 * service is malformed.
 */
export function loadSettings(options: LoadSettingsOptions): Settings {
  const { warn } = options;
  const dotenv = readDotenv(warn);
  const keyOfEnvironment = fromEnvironment(KEY);
  const apiKey = validateKey(keyOfEnvironment ?? dotenvValue(dotenv, KEY));
  const keySource = keyOfEnvironment === undefined ? ".env" : "environment";
  const [source, value] = findBaseUrl(options, { dotenv, keySource });
  const { baseUrl, isLocal } = validateBaseUrl(value, NAMES[source]);
  return {
    ...{ apiKey, baseUrl, isLocal },
    proxy: takeProxy(new URL(baseUrl), isLocal),
    sources: { apiKey: keySource, baseUrl: source },
  };
}

const NAMES: Readonly<Record<SettingSources["baseUrl"], string>> = {
  "--base-url": "--base-url",
  "environment": BASE_URL,
  ".env": `${BASE_URL} in .env`,
  "built-in": "the built-in base URL",
};

/** The base URL that takes precedence, not yet validated. */
function findBaseUrl(
  { baseUrl, warn }: LoadSettingsOptions,
  { dotenv, keySource }: {
    readonly dotenv: string;
    readonly keySource: SettingSources["apiKey"];
  },
): readonly [SettingSources["baseUrl"], string] {
  if (baseUrl !== undefined) return ["--base-url", baseUrl];
  const variable = fromEnvironment(BASE_URL);
  if (variable !== undefined) return ["environment", variable];
  if (keySource === ".env") {
    const value = dotenvValue(dotenv, BASE_URL);
    if (value !== undefined) return [".env", value];
  } else if (isAssigned(dotenv, BASE_URL)) {
    warn(
      `Ignoring ${BASE_URL} in .env, because ${KEY} does not come from there; set ${BASE_URL} in the environment, or use --base-url`,
    );
  }
  return ["built-in", DEFAULT_BASE_URL];
}

function validateKey(value: string | undefined): string {
  if (value === undefined) {
    const variable = { name: "env", variable: KEY } as const;
    if (Deno.permissions.querySync(variable).state !== "granted") {
      throw new SettingsError(
        `${KEY} cannot be read: run Deno with --allow-env=${KEY}`,
      );
    }
    const howToSet = Deno.build.os === "windows"
      ? `set it with $env:${KEY} = '...'`
      : "export it";
    throw new SettingsError(
      `${KEY} is not set: ${howToSet}, or put ${KEY}='...' into a .env file in the current folder`,
    );
  }
  const fault = !/^[\x21-\x7e]+$/.test(value)
    ? "is printable ASCII without spaces"
    : value.length > MAX_KEY_LENGTH
    ? `has at most ${MAX_KEY_LENGTH} characters`
    : undefined;
  if (fault === undefined) return value;
  throw new SettingsError(`${KEY} is malformed: a key ${fault}; copy it again`);
}

function validateBaseUrl(
  value: string,
  source: string,
): Pick<Settings, "baseUrl" | "isLocal"> {
  const text = value.trim();
  const url = URL.parse(text);
  const refuse = (reason: string) => new SettingsError(`${source} ${reason}`);
  // URL.parse() accepts whitespace, backslashes and superfluous slashes.
  if (url === null || !/^https?:\/\/[^/\\\s][^\\\s]*$/i.test(text)) {
    const [, scheme] = /^([a-z][a-z\d+.-]*:)\/\//i.exec(text) ?? [];
    throw refuse(
      scheme === undefined || /^https?:$/i.test(scheme)
        ? "must be an absolute URL such as https://host/path"
        : `must begin with https:// (not ${scheme})`,
    );
  }
  if (/^[^/]*\/\/[^/?#]*@/.test(text)) {
    throw refuse(`must not contain a user name; the key goes into ${KEY}`);
  }
  if (/[?#]/.test(text)) throw refuse("must not contain a query or a fragment");
  const isLocal = isLoopback(url);
  if (url.protocol === "http:" && !isLocal) {
    throw refuse(
      "cannot be used: http: would send the key in clear text; use https: (http: is for localhost, 127.0.0.0/8 and [::1])",
    );
  }
  return { baseUrl: url.href.replace(/(?<!\/)\/+$/, ""), isLocal };
}

function isLoopback({ hostname }: URL): boolean {
  return hostname === "localhost" || hostname === "[::1]" ||
    /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** An environment variable. A value that is not Unicode fails validation later. */
function fromEnvironment(name: string): string | undefined {
  return environmentVariable(name)?.trim() || undefined;
}
