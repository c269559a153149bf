/** "0.4 s", "12 s", "2 min 5 s", "1 h 3 min": rounded down. */
export function duration(milliseconds: number): string {
  const tenths = Math.floor(milliseconds / 100);
  if (tenths < 100) return `${(tenths / 10).toFixed(1)} s`;
  const seconds = Math.floor(tenths / 10);
  return inUnits(seconds, Math.floor(seconds / 60));
}

/** The same in whole seconds, rounded up: "6 s", "2 min 5 s", "60 min", "1 h 3 min". */
export function wholeDuration(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  return inUnits(seconds, Math.ceil(seconds / 60));
}

/** @param minutes The same time in minutes, rounded as for the caller. */
function inUnits(seconds: number, minutes: number): string {
  if (seconds < 60) return `${seconds} s`;
  if (minutes > 60) return joined(minutes, "h", "min");
  return joined(seconds, "min", "s");
}

/** An amount of a unit, of which 60 make a larger one: 125 s are "2 min 5 s". */
function joined(amount: number, larger: string, unit: string): string {
  const whole = `${Math.floor(amount / 60)} ${larger}`;
  const rest = amount % 60;
  return rest === 0 ? whole : `${whole} ${rest} ${unit}`;
}

/** "64 KiB", "16 MiB": a limit in bytes, for messages and documents. */
export function size(bytes: number): string {
  const kibibytes = bytes / 1024;
  return kibibytes < 1024 ? `${kibibytes} KiB` : `${kibibytes / 1024} MiB`;
}

/** "1 event", "2 events", "2 entries" */
export function counted(count: number, noun: string): string {
  if (count === 1) return `1 ${noun}`;
  return `${count} ${noun.replace(/y$/, "ie")}s`;
}
