import { type Part, type Redacted, safe } from "./safe_text.ts";

/** "0.4 s", "12 s", "2 min 5 s", "1 h 3 min": rounded down. */
export function duration(milliseconds: number): Redacted {
  const tenths = Math.floor(milliseconds / 100);
  return tenths < 100
    ? seconds(tenths * 100)
    : inUnits(milliseconds, Math.floor);
}

/** "12.3 s" */
export function seconds(milliseconds: number): Redacted {
  return `${(milliseconds / 1000).toFixed(1)} s` as Redacted;
}

/** A duration in whole seconds, rounded up: "6 s", "2 min 5 s", "60 min", "1 h 3 min". */
export function wholeDuration(milliseconds: number): Redacted {
  return inUnits(milliseconds, Math.ceil);
}

function inUnits(
  milliseconds: number,
  round: (amount: number) => number,
): Redacted {
  const seconds = round(milliseconds / 1000);
  if (seconds < 60) return safe`${seconds} s`;
  const minutes = round(seconds / 60);
  return minutes > 60
    ? joined(minutes, "h", "min")
    : joined(seconds, "min", "s");
}

/** An amount of a unit, of which 60 make a larger one: 125 s are "2 min 5 s". */
function joined(
  amount: number,
  larger: "h" | "min",
  unit: "min" | "s",
): Redacted {
  const whole = safe`${Math.floor(amount / 60)} ${larger}`;
  const rest = amount % 60;
  return rest === 0 ? whole : safe`${whole} ${rest} ${unit}`;
}

/** "64 KiB", "16 MiB": a limit in bytes, for messages and documents. */
export function size(bytes: number): Redacted {
  const kibibytes = bytes / 1024;
  return kibibytes < 1024
    ? safe`${kibibytes} KiB`
    : safe`${kibibytes / 1024} MiB`;
}

/** "1 event", "2 events" */
export function counted<Noun extends string>(
  count: number,
  noun: Noun & Part<Noun>,
): Redacted {
  return `${count} ${noun}${count === 1 ? "" : "s"}` as Redacted;
}

/** A date and time, from seconds since 1970: "2026-01-15 12:00 UTC". */
export function utc(seconds: number): Redacted {
  const time = new Date(seconds * 1000).toISOString().slice(0, 16).replace(
    "T",
    " ",
  );
  return `${time} UTC` as Redacted;
}
