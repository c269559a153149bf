/**
 * U+FFFD if its value is not Unicode; `undefined` if it is not set or may not be read.
 */
export function environmentVariable(name: string): string | undefined {
  try {
    return Deno.env.get(name);
  } catch (error) {
    // Deno's errors quote the value.
    if (error instanceof Deno.errors.InvalidData) return "\ufffd";
    if (error instanceof Deno.errors.NotCapable) return undefined;
    throw error;
  }
}
