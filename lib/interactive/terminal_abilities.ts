import type { Size } from "../editor.ts";
import { environmentVariable } from "../io.ts";

/**
 * Whether text on a terminal is styled. `auto` styles it unless `NO_COLOR` is set
 * (https://no-color.org), the terminal is dumb, or a screen reader may read it: it would
 * break the text at each change of style.
 */
export function usesColour(
  color: "auto" | "always" | "never",
  isPlain: boolean,
): boolean {
  if (color !== "auto") return color === "always";
  return !isPlain && !isDumb() &&
    (environmentVariable("NO_COLOR") ?? "") === "";
}

/** Whether `TERM` says that the terminal cannot be drawn on. The Windows console has no `TERM`. */
export function isDumb(): boolean {
  const term = environmentVariable("TERM") ?? "";
  return term === "dumb" || term === "" && Deno.build.os !== "windows";
}

/** Whether the terminal is the Linux console, whose font lacks most signs. */
export function isLinuxConsole(): boolean {
  return environmentVariable("TERM") === "linux";
}

/** Whether `CI` is set: to anything but empty, `0` or `false`. */
export function isAutomated(): boolean {
  return !["", "0", "false"].includes(environmentVariable("CI") ?? "");
}

export function consoleSize(): Size {
  try {
    const { columns, rows } = Deno.consoleSize();
    return { columns: columns || 80, rows: rows || 24 };
  } catch {
    return { columns: 80, rows: 24 }; // no standard stream is a terminal
  }
}
