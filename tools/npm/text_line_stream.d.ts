/** The signatures of `@std/streams/text-line-stream`. */

export interface TextLineStreamOptions {
  /** Whether a lone `\r` ends a line, too. */
  allowCR?: boolean;
}

export class TextLineStream extends TransformStream<string, string> {
  constructor(options?: TextLineStreamOptions);
}
