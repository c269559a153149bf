/** "0.4 s", "12 s", "2 min 5 s", "1 h 3 min": rounded down. */
export function duration(milliseconds: number): string {
  const tenths = Math.floor(milliseconds / 100);
  return tenths < 100
    ? `${(tenths / 10).toFixed(1)} s`
    : wholeDuration(Math.floor(tenths / 10) * 1000);
}

/** The same in whole seconds, rounded up: "6 s", "2 min 5 s", "10 min". */
export function wholeDuration(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) return `${seconds} s`;
  return `${minutes} min${seconds % 60 === 0 ? "" : ` ${seconds % 60} s`}`;
}

/** "1 event", "2 events", "2 entries" */
export function counted(count: number, noun: string): string {
  if (count === 1) return `1 ${noun}`;
  return `${count} ${noun.replace(/y$/, "ie")}s`;
}
