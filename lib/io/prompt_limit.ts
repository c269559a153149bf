import { type Redacted, safe, size } from "../text.ts";

/** The most bytes of UTF-8 of a prompt, wherever it comes from: 16 MiB. */
export const MAX_PROMPT_BYTES = 16 * 1024 * 1024;

/** The error for a prompt that is longer. */
export const PROMPT_TOO_LONG: Redacted = safe`The prompt is larger than ${
  size(MAX_PROMPT_BYTES)
}`;
