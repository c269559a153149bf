/**
 * Puts a space into what the runners of GitHub Actions and Azure Pipelines obey: a line
 * that begins with `::`, and `##[` or `##vso[` anywhere. They pass over white space and
 * characters that are not shown (actions/runner, `ActionCommand.cs`).
 */
export function withoutCommands(text: string): string {
  return text.replace(
    /^[\t\v\f\r\p{Zs}\p{DI}]*:(?=\p{DI}*:)|#(?=\p{DI}*#)/gmu,
    "$& ",
  );
}
