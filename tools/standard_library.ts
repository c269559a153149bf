/**
 * Imports every part of the standard library that the project uses, so that
 * one module tells whether all of it can be had.
 *
 * @module
 */
import "@std/assert";
import "@std/cli/parse-args";
import "@std/cli/unicode-width";
import "@std/dotenv/parse";
import "@std/streams/text-line-stream";
import "@std/testing/bdd";
