// The code of @std/assert 1.0.19, which deno.lock pins. npm has no types of it: here
// are those of the functions that the project uses.
import * as code from "deno-std/assert/mod.js";

type Class<T> = abstract new (...args: never[]) => T;
type Falsy = false | 0 | 0n | "" | null | undefined;

export const assert: (expr: unknown, msg?: string) => asserts expr =
  code.assert;

export const assertFalse: (
  expr: unknown,
  msg?: string,
) => asserts expr is Falsy = code.assertFalse;

export const assertInstanceOf: <T>(
  actual: unknown,
  expectedType: Class<T>,
  msg?: string,
) => asserts actual is T = code.assertInstanceOf;

export const assertStrictEquals: <T>(
  actual: unknown,
  expected: T,
  msg?: string,
) => asserts actual is T = code.assertStrictEquals;

export const assertEquals: <T>(actual: T, expected: T, msg?: string) => void =
  code.assertEquals;

export const assertLess: <T>(actual: T, expected: T, msg?: string) => void =
  code.assertLess;

export const assertObjectMatch: (
  actual: object,
  expected: Record<PropertyKey, unknown>,
  msg?: string,
) => void = code.assertObjectMatch;

export const assertStringIncludes: (
  actual: string,
  expected: string,
  msg?: string,
) => void = code.assertStringIncludes;

type Match = (actual: string, expected: RegExp, msg?: string) => void;
export const assertMatch: Match = code.assertMatch;
export const assertNotMatch: Match = code.assertNotMatch;

export const assertRejects: {
  (fn: () => PromiseLike<unknown>, msg?: string): Promise<unknown>;
  <E extends Error = Error>(
    fn: () => PromiseLike<unknown>,
    ErrorClass: Class<E>,
    msgIncludes?: string,
    msg?: string,
  ): Promise<E>;
} = code.assertRejects;

export const assertThrows: {
  (fn: () => unknown, msg?: string): unknown;
  <E extends Error = Error>(
    fn: () => unknown,
    ErrorClass: Class<E>,
    msgIncludes?: string,
    msg?: string,
  ): E;
} = code.assertThrows;
