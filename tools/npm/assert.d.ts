/** The signatures of `@std/assert` that the project uses. */

type Class<T> = abstract new (...args: never[]) => T;
type Falsy = false | 0 | 0n | "" | null | undefined;

export class AssertionError extends Error {
  constructor(message: string, options?: ErrorOptions);
}

export function assert(expr: unknown, msg?: string): asserts expr;
export function assertAlmostEquals(
  actual: number,
  expected: number,
  tolerance?: number,
  msg?: string,
): void;
export function assertArrayIncludes<T>(
  actual: ArrayLike<T>,
  expected: ArrayLike<T>,
  msg?: string,
): void;
export function assertEquals<T>(actual: T, expected: T, msg?: string): void;
export function assertExists<T>(
  actual: T,
  msg?: string,
): asserts actual is NonNullable<T>;
export function assertFalse(
  expr: unknown,
  msg?: string,
): asserts expr is Falsy;
export function assertGreater<T>(actual: T, expected: T, msg?: string): void;
export function assertGreaterOrEqual<T>(
  actual: T,
  expected: T,
  msg?: string,
): void;
export function assertInstanceOf<T>(
  actual: unknown,
  expectedType: Class<T>,
  msg?: string,
): asserts actual is T;
export function assertIsError<E extends Error = Error>(
  error: unknown,
  ErrorClass?: Class<E>,
  msgMatches?: string | RegExp,
  msg?: string,
): asserts error is E;
export function assertLess<T>(actual: T, expected: T, msg?: string): void;
export function assertLessOrEqual<T>(
  actual: T,
  expected: T,
  msg?: string,
): void;
export function assertMatch(
  actual: string,
  expected: RegExp,
  msg?: string,
): void;
export function assertNotEquals<T>(actual: T, expected: T, msg?: string): void;
export function assertNotInstanceOf<A, T>(
  actual: A,
  unexpectedType: Class<T>,
  msg?: string,
): asserts actual is Exclude<A, T>;
export function assertNotMatch(
  actual: string,
  expected: RegExp,
  msg?: string,
): void;
export function assertNotStrictEquals<T>(
  actual: T,
  expected: T,
  msg?: string,
): void;
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
export function equal(a: unknown, b: unknown): boolean;
export function fail(msg?: string): never;
export function unimplemented(msg?: string): never;
export function unreachable(msg?: string): never;
