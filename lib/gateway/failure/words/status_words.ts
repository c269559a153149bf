import type { RemoteOperation } from "../fate.ts";

export interface StatusWords {
  /** The operation that is meant; by default all of them. */
  readonly operation?: RemoteOperation;
  readonly statuses: readonly number[];
  /** Whether only web pages are meant; the meaning then follows the page's title. */
  readonly isPage?: true;
  /** What the status means; by default only the status is shown. */
  readonly meaning?: string;
  readonly advice?: string;
}

/** What statuses outside 2xx mean, and what to do. The first row that applies counts. */
export const STATUS_WORDS: readonly StatusWords[] = [
  {
    operation: "create run",
    statuses: [401, 403],
    isPage: true,
    meaning: "a firewall may have blocked the text of the prompt",
    advice: "Change it, or check APP_API_KEY and the network",
  },
  {
    statuses: [401, 403],
    isPage: true,
    meaning: "a firewall or sign-in page, or a rejected key",
    advice: "Check APP_API_KEY and the network",
  },
  {
    statuses: [401, 403],
    meaning: "The service rejected the API key",
    advice: "Check APP_API_KEY",
  },
  {
    operation: "create thread",
    statuses: [404],
    advice: "Check the base URL",
  },
  {
    operation: "create run",
    statuses: [413],
    meaning: "The prompt is too long for the service",
  },
  {
    operation: "stream run",
    statuses: [404, 410],
    meaning: "The service no longer knows the run",
  },
  {
    statuses: [511],
    meaning: "The network asks you to sign in",
    advice: "Sign in with a browser",
  },
];
