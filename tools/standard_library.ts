/**
 * Imports every part of the standard library that the project uses, so that
 * loading this module shows whether all of it is available.
 *
 * @module
 */
import "@std/assert";
import "jsr:@std/cli@^1.0.32/unicode-width";
import "jsr:@std/dotenv@^0.225.6/parse";
import "jsr:@std/streams@^1.1.1/text-line-stream";
import "@std/testing/bdd";
