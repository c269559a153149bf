import { environmentVariable } from "./io.ts";
import { dotenvValue, isAssigned, readDotenv } from "./settings/dotenv_file.ts";
import { type Proxy, takeProxy } from "./settings/proxy.ts";
import { SettingsError } from "./settings/settings_error.ts";

export { portOf } from "./settings/port.ts";
export {
  mayListenOnLoopback,
  mayReadProxyVariables,
  type Proxy,
} from "./settings/proxy.ts";
export { SettingsError } from "./settings/settings_error.ts";

export const DEFAULT_BASE_URL = "https://the-brain.example";

const KEY = "APP_API_KEY";
const BASE_URL = "APP_BASE_URL";
export const MAX_KEY_LENGTH = 8192;

export interface Settings {
  /** The validated API key. Never shown, except masked in the banner. */
  readonly apiKey: string;
  /** The validated base URL, without a trailing slash. */
  readonly baseUrl: string;
  /** Whether its host is this machine: then no proxy is used. */
  readonly isLocal: boolean;
  readonly proxy: Proxy | undefined;
  /** The sources of key and base URL, for troubleshooting. */
  readonly sources: SettingSources;
}

interface SettingSources {
  readonly apiKey: "environment" | ".env";
  readonly baseUrl: "--base-url" | "environment" | ".env" | "built-in";
}

/**
 * Loads the settings (interface 5): flags win over the environment, which wins over a
 * `.env` file in the current folder. `APP_BASE_URL` counts there only if the key comes
 * from it as well: a folder must never choose where the user's own key is sent.
 *
 * It removes the variables about proxies and an empty `DENO_CERT` from the environment:
 * from here on, Deno does not see them.
 *
 * @param flag The value of `--base-url`.
 * @param warn Gets what is ignored, one line each. It may be why this fails.
 * @throws {SettingsError} If the key is missing, or it, the base URL or the proxy of the
 * service is malformed.
 */
export function loadSettings(
  flag: string | undefined,
  warn: (line: string) => void,
): Settings {
  // Deno would look for a file without a name, and fail.
  if (environmentVariable("DENO_CERT") === "") Deno.env.delete("DENO_CERT");

  const variable = fromEnvironment(KEY);
  const dotenv = readDotenv({ isNeeded: variable === undefined });
  if (dotenv.warning !== undefined) warn(dotenv.warning);

  const apiKey = validateKey(variable ?? dotenvValue(dotenv.text, KEY));
  const isKeyOfFile = variable === undefined;
  const { value, source } = findBaseUrl(flag, isKeyOfFile ? dotenv.text : "");
  const isUnused = source === "built-in" && !isKeyOfFile;
  if (isUnused && isAssigned(dotenv.text, BASE_URL)) {
    warn(
      `Ignoring ${BASE_URL} in .env, because ${KEY} does not come from there; set ${BASE_URL} in the environment, or use --base-url`,
    );
  }

  const { baseUrl, isLocal } = validateBaseUrl(value, NAMES[source]);
  return {
    apiKey,
    baseUrl,
    isLocal,
    proxy: takeProxy(new URL(baseUrl), isLocal),
    sources: {
      apiKey: isKeyOfFile ? ".env" : "environment",
      baseUrl: source,
    },
  };
}

const NAMES: Readonly<Record<SettingSources["baseUrl"], string>> = {
  "--base-url": "--base-url",
  "environment": BASE_URL,
  ".env": `${BASE_URL} in .env`,
  "built-in": "the built-in base URL",
};

interface FoundBaseUrl {
  /** Not yet validated. */
  readonly value: string;
  readonly source: SettingSources["baseUrl"];
}

/**
 * The base URL that takes precedence.
 *
 * @param dotenv The text of `.env`, if a base URL in it may be used.
 */
function findBaseUrl(flag: string | undefined, dotenv: string): FoundBaseUrl {
  if (flag !== undefined) return { value: flag, source: "--base-url" };
  const variable = fromEnvironment(BASE_URL);
  if (variable !== undefined) return { value: variable, source: "environment" };
  const value = dotenvValue(dotenv, BASE_URL);
  if (value !== undefined) return { value, source: ".env" };
  requirePermission(BASE_URL, ", or use --base-url");
  return { value: DEFAULT_BASE_URL, source: "built-in" };
}

/** Without the permission for it, a variable that is set looks like one that is not. */
function requirePermission(variable: string, otherWay = ""): void {
  const { state } = Deno.permissions.querySync({ name: "env", variable });
  if (state === "granted") return;
  throw new SettingsError(
    `${variable} cannot be read: run Deno with --allow-env=${variable}${otherWay}`,
  );
}

function validateKey(value: string | undefined): string {
  if (value === undefined) {
    requirePermission(KEY);
    const howToSet = Deno.build.os === "windows"
      ? `set it with $env:${KEY} = '...'`
      : "export it";
    throw new SettingsError(
      `${KEY} is not set: ${howToSet}, or put ${KEY}='...' into a .env file in the current folder`,
    );
  }
  refuseQuotes(value, KEY);
  const refuse = (rule: string) =>
    new SettingsError(`${KEY} is malformed: a key ${rule}; copy it again`);
  if (!/^[\x21-\x7e]+$/.test(value)) {
    throw refuse("is printable ASCII without spaces");
  }
  if (value.length > MAX_KEY_LENGTH) {
    throw refuse(`has at most ${MAX_KEY_LENGTH} characters`);
  }
  return value;
}

function refuseQuotes(value: string, source: string): void {
  if (!/^(['"`]).*\1$/s.test(value)) return;
  throw new SettingsError(
    `${source} is in quotes or backticks: remove them (docker --env-file does not)`,
  );
}

function validateBaseUrl(
  value: string,
  source: string,
): Pick<Settings, "baseUrl" | "isLocal"> {
  const text = value.trim();
  refuseQuotes(text, source);
  const url = URL.parse(text);
  const refuse = (reason: string) => new SettingsError(`${source} ${reason}`);
  // URL.parse() accepts whitespace, backslashes and superfluous slashes.
  if (url === null || !/^https?:\/\/[^/\\\s][^\\\s]*$/i.test(text)) {
    const [, scheme = "https:"] = /^([a-z][a-z\d+.-]*:)\/\//i.exec(text) ?? [];
    const isOtherScheme = !/^https?:$/i.test(scheme);
    throw refuse(
      isOtherScheme
        ? "must begin with https://"
        : "must be an absolute URL such as https://host/path",
    );
  }
  if (/^[^/]*\/\/[^/?#]*@/.test(text)) {
    throw refuse(`must not contain a user name; the key goes into ${KEY}`);
  }
  if (/[?#]/.test(text)) throw refuse("must not contain a query or a fragment");
  if (url.hostname.length > 253 || /[^.]{64}/.test(url.hostname)) {
    throw refuse(
      "must have a host name of at most 253 characters, and 63 between dots",
    );
  }
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
