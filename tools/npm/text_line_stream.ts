// The code of @std/streams 1.1.1, which deno.lock pins; npm has no types of it.
import * as code from "deno-std@1.3.3/streams/text_line_stream.js";

export type TextLineStream = TransformStream<string, string>;
export const TextLineStream: new () => TextLineStream = code.TextLineStream;
