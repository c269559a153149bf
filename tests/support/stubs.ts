/**
 * Replaces members of an object until it is disposed of.
 *
 * @example
 * ```ts
 * using _ = stub(Deno, { consoleSize: () => ({ columns: 80, rows: 24 }) });
 * ```
 */
export function stub<T extends object>(
  object: T,
  members: Partial<T>,
): Disposable {
  const names = Object.keys(members) as (keyof T)[];
  const before = names.map((name) => [name, object[name]] as const);
  Object.assign(object, members);
  return {
    [Symbol.dispose]: () =>
      void Object.assign(object, Object.fromEntries(before)),
  };
}
