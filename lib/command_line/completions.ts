/**
 * The completion scripts of `--completions`. Each shell's documentation names the
 * mechanism: bash "Programmable Completion", zsh "_arguments", fish "complete",
 * PowerShell "Register-ArgumentCompleter".
 *
 * @module
 */

import { type Option, OPTIONS, spellings } from "./option_table.ts";

const LIST: readonly Option[] = OPTIONS;
const WITH_VALUE = LIST.filter(({ value }) => value !== undefined);

const SCRIPTS = { bash, zsh, fish, powershell };

export function completions(shell: keyof typeof SCRIPTS): string {
  return SCRIPTS[shell]();
}

function bash(): string {
  const values = WITH_VALUE.map((option) => {
    const words = option.choices?.join(" ") ?? "";
    return `    ${spellings(option).join("|")})
      COMPREPLY=($(compgen -W '${words}' -- "$current"))
      return
      ;;`;
  });
  return `# bash completion for agent-gateway
_agent_gateway() {
  local current="\${COMP_WORDS[COMP_CWORD]}"
  local previous="\${COMP_WORDS[COMP_CWORD - 1]}"
  # bash makes "=" a word of its own.
  if [[ $current == "=" ]]; then
    current=""
  elif [[ $previous == "=" ]]; then
    previous="\${COMP_WORDS[COMP_CWORD - 2]}"
  fi
  case "$previous" in
${values.join("\n")}
  esac
  COMPREPLY=($(compgen -W '${LIST.flatMap(spellings).join(" ")}' -- "$current"))
}
complete -F _agent_gateway agent-gateway
`;
}

function zsh(): string {
  const escape = (text: string) => text.replaceAll(/[[\]\\:]/g, "\\$&");
  const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  const specs = LIST.flatMap((option) => {
    const { name, value, choices, effect } = option;
    const argument = value === undefined
      ? ""
      : `:${value}:${choices ? `(${choices.join(" ")})` : ""}`;
    return spellings(option).map((flag) => {
      const sign = value !== undefined && flag === `--${name}` ? "=" : "";
      return `    ${quote(`*${flag}${sign}[${escape(effect)}]${argument}`)}`;
    });
  });
  return `#compdef agent-gateway
# zsh completion for agent-gateway
_agent-gateway() {
  _arguments -s \\
${specs.join(" \\\n")}
}
if [[ $funcstack[1] == _agent-gateway ]]; then
  _agent-gateway "$@"
else
  compdef _agent-gateway agent-gateway
fi
`;
}

function fish(): string {
  const quote = (text: string) => `'${text.replaceAll(/['\\]/g, "\\$&")}'`;
  const lines = LIST.map(({ name, short, value, choices, effect }) =>
    [
      "complete -c agent-gateway",
      short === undefined ? "" : `-s ${short}`,
      `-l ${name}`,
      value === undefined ? "" : "-x",
      choices === undefined ? "" : `-a ${quote(choices.join(" "))}`,
      `-d ${quote(effect)}`,
    ].filter((part) => part !== "").join(" ")
  );
  return `# fish completion for agent-gateway
complete -c agent-gateway -f
${lines.join("\n")}
`;
}

function powershell(): string {
  const quote = (text: string) => `'${text.replaceAll("'", "''")}'`;
  const values = WITH_VALUE.flatMap((option) =>
    spellings(option).map((flag) =>
      option.choices === undefined
        ? `    ${quote(flag)} { return }`
        : `    ${quote(flag)} { return @(${
          option.choices.map(quote).join(", ")
        }) -like "$wordToComplete*" }`
    )
  );
  const flags = LIST.flatMap((option) =>
    spellings(option).map((flag) =>
      `    [PSCustomObject]@{ Flag = ${quote(flag)}; Effect = ${
        quote(option.effect)
      } }`
    )
  );
  return `# PowerShell completion for agent-gateway
Register-ArgumentCompleter -Native -CommandName 'agent-gateway', 'agent-gateway.exe' -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $before = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition })
  switch -CaseSensitive ($before[-1].Extent.Text) {
${values.join("\n")}
  }
  @(
${flags.join("\n")}
  ) | Where-Object { $_.Flag.StartsWith($wordToComplete) } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_.Flag, $_.Flag, 'ParameterName', $_.Effect)
  }
}
`;
}
