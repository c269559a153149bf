import type { Size } from "../editor.ts";

/** The size of the terminal; 80 columns and 24 rows if it is unknown. */
export function consoleSize(): Size {
  try {
    const { columns, rows } = Deno.consoleSize();
    return { columns: columns || 80, rows: rows || 24 };
  } catch {
    return { columns: 80, rows: 24 }; // no standard stream is a terminal
  }
}
