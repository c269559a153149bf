// The code of @std/streams 1.1.1, which deno.lock pins.
// @ts-types="./text_line_stream.d.ts"
export { TextLineStream } from "deno-std@1.3.3/streams/text_line_stream.js";
