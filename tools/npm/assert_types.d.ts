// The types of the functions of @std/assert that the project uses.
type Class<T> = abstract new (...args: never[]) => T;
type Falsy = false | 0 | 0n | "" | null | undefined;
type Compare = <T>(actual: T, expected: T, msg?: string) => void;
type Match = (actual: string, expected: RegExp, msg?: string) => void;

export const assertEquals: Compare;
export const assertLess: Compare;
export const assertMatch: Match;
export const assertNotMatch: Match;

export function assert(expr: unknown, msg?: string): asserts expr;
export function assertFalse(expr: unknown, msg?: string): asserts expr is Falsy;
export function assertInstanceOf<T>(
  actual: unknown,
  expectedType: Class<T>,
  msg?: string,
): asserts actual is T;
export function assertObjectMatch(
  actual: object,
  expected: Record<PropertyKey, unknown>,
  msg?: string,
): void;
export function assertRejects(
  fn: () => PromiseLike<unknown>,
  msg?: string,
): Promise<unknown>;
export function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  ErrorClass: Class<E>,
  msgIncludes?: string,
  msg?: string,
): Promise<E>;
export function assertStrictEquals<T>(
  actual: unknown,
  expected: T,
  msg?: string,
): asserts actual is T;
export function assertStringIncludes(
  actual: string,
  expected: string,
  msg?: string,
): void;
export function assertThrows(fn: () => unknown, msg?: string): unknown;
export function assertThrows<E extends Error = Error>(
  fn: () => unknown,
  ErrorClass: Class<E>,
  msgIncludes?: string,
  msg?: string,
): E;
