/**
 * Breaks the workflow commands of GitHub Actions and Azure Pipelines with a space: `::`
 * at the start of a line, and `##[` or `##vso[` anywhere. The runners ignore whitespace
 * and invisible characters in them (actions/runner, `ActionCommand.cs`), so this does
 * too.
 */
export function withoutCommands(text: string): string {
  return text.replace(
    /^[\t\v\f\r\p{Zs}\p{DI}]*:(?=\p{DI}*:)|#(?=\p{DI}*#)/gmu,
    "$& ",
  );
}
