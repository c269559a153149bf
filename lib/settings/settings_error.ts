/** A setting is missing or invalid. The message names it and never shows its value. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
}
