export interface ReadText {
  readonly text: string;
  readonly isCut: boolean;
}

interface ReadTextOptions {
  /** The most bytes that are read; the rest is dropped. */
  readonly maxBytes: number;
  /** Whether a source that breaks yields the text that came before. */
  readonly mayBreak?: boolean;
  /** Whether bytes that are not UTF-8 are an error. By default they become U+FFFD. */
  readonly isStrict?: boolean;
}

/**
 * Reads a limited text as UTF-8. With `isStrict`, a {@linkcode TypeError} may be thrown.
 */
export async function readText(
  source: AsyncIterable<Uint8Array>,
  { maxBytes, mayBreak = false, isStrict = false }: ReadTextOptions,
): Promise<ReadText> {
  const decoder = new TextDecoder("utf-8", { fatal: isStrict });
  let text = "";
  let left = maxBytes;
  try {
    for await (const chunk of source) {
      text += decoder.decode(chunk.subarray(0, left), { stream: true });
      if (chunk.length > left) return { text, isCut: true };
      left -= chunk.length;
    }
  } catch (error) {
    if (!mayBreak) throw error;
    return { text, isCut: true };
  }
  return { text: text + decoder.decode(), isCut: false };
}
