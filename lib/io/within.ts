/** Waits for a promise; after a number of milliseconds the result is that of `late`. */
export async function within<T>(
  milliseconds: number,
  promise: Promise<T>,
  late: () => T,
): Promise<T> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  try {
    return await Promise.race([promise, over.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}
