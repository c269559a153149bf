// @ts-types="./text_line_stream.d.ts"
export { TextLineStream } from "deno-std/streams/text_line_stream.js";
