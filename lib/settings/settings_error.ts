/** A setting is missing or invalid. The message names it and never shows its value. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
  /** What was ignored before, one line each. It may be the cause. */
  readonly warnings: readonly string[];

  constructor(message: string, warnings: readonly string[] = []) {
    super(message);
    this.warnings = warnings;
  }
}
