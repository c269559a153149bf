/**
 * Imports every part of the standard library that the project uses, so that
 * loading this module shows whether all of it is available.
 *
 * @module
 */
import "@std/assert";
import "@std/cli/unicode-width";
import "@std/dotenv/parse";
import "@std/streams/text-line-stream";
import "@std/testing/bdd";
