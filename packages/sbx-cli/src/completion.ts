// Completions and the manual page, made from the one description of the command line. Pure.

import type { Command, Option } from "commander";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

type Words = { readonly name: string; readonly description: string; readonly options: readonly Option[] };

export function completionFor(shell: Shell, program: Command): string {
  const commands = visible(program);
  const own = optionsOf(program);
  if (shell === "bash") return bash(commands, own);
  return shell === "zsh" ? zsh(commands, own) : fish(commands, own);
}

function visible(program: Command): Words[] {
  const shown = program.createHelp().visibleCommands(program);
  return shown.map((command) => ({
    name: command.name(),
    description: command.description(),
    options: optionsOf(command),
  }));
}

function optionsOf(command: Command): readonly Option[] {
  return command.createHelp().visibleOptions(command);
}

const flagsOf = (options: readonly Option[]) =>
  options.flatMap(({ short, long }) => [short, long].filter((flag) => flag !== undefined)).join(" ");

function bash(commands: readonly Words[], own: readonly Option[]): string {
  const cases = commands.map(({ name, options }) => `    ${name}) words="${flagsOf(options)}" ;;`);
  return `# bash completion of sbx-stdio
_sbx_stdio() {
  local current=\${COMP_WORDS[COMP_CWORD]} words i
  for ((i = 1; i < COMP_CWORD; i++)); do [[ \${COMP_WORDS[i]} == -- ]] && return; done
  case \${COMP_WORDS[1]} in
${cases.join("\n")}
    *) words="${flagsOf(own)}" ;;
  esac
  ((COMP_CWORD == 1)) && words="${commands.map(({ name }) => name).join(" ")} $words"
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _sbx_stdio sbx-stdio
`;
}

function zsh(commands: readonly Words[], own: readonly Option[]): string {
  const described = (options: readonly Option[]) =>
    options.flatMap((option) => {
      const names = [option.short, option.long].filter((flag) => flag !== undefined);
      return names.map((flag) =>
        zshQuote(`${flag}[${zshText(option.description)}]${takesValue(option) ? ":value:" : ""}`),
      );
    });
  const names = commands.map(({ name, description }) => zshQuote(`${name}:${zshText(description)}`));
  const cases = commands.map(
    ({ name, options }) => `    ${name}) _arguments ${described(options).join(" ")} '*::words:_files' ;;`,
  );
  return `#compdef sbx-stdio
_sbx_stdio() {
  local -a names
  names=(${names.join(" ")})
  if ((CURRENT == 2)) && [[ $words[2] != -* ]]; then _describe command names; return; fi
  case $words[2] in
${cases.join("\n")}
    *) _arguments ${described(own).join(" ")} '*::words:_files' ;;
  esac
}
compdef _sbx_stdio sbx-stdio
`;
}

function fish(commands: readonly Words[], own: readonly Option[]): string {
  const line = (condition: string, option: Option) => {
    const short = option.short === undefined ? "" : ` -s ${option.short.slice(1)}`;
    const long = option.long === undefined ? "" : ` -l ${option.long.slice(2)}`;
    return `complete -c sbx-stdio -n '${condition}'${short}${long}${takesValue(option) ? " -r" : ""} -d ${fishQuote(option.description)}`;
  };
  const names = commands.map(({ name }) => name).join(" ");
  const lines = [
    ...commands.map(
      ({ name, description }) =>
        `complete -c sbx-stdio -n __fish_use_subcommand -a ${name} -d ${fishQuote(description)}`,
    ),
    ...commands.flatMap(({ name, options }) =>
      options.map((option) => line(`__fish_seen_subcommand_from ${name}`, option)),
    ),
    ...own.map((option) => line(`not __fish_seen_subcommand_from ${names}`, option)),
  ];
  return `# fish completion of sbx-stdio\n${lines.join("\n")}\n`;
}

const takesValue = ({ required, optional }: Option) => required || optional;
const zshText = (text: string) => text.replace(/[[\]:\\]/g, "\\$&");
const zshQuote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
const fishQuote = (text: string) => `'${text.replace(/['\\]/g, "\\$&")}'`;

// ---- The manual page ---------------------------------------------------------------------------------------------

export function manualPage(program: Command, version: string): string {
  const sections = program
    .createHelp()
    .visibleCommands(program)
    .map((command) => {
      const head = `.SS ${roff(`${command.name()} ${command.usage()}`)}\n${roff(command.description())}`;
      return `${head}\n${optionLines(optionsOf(command))}`;
    });
  return `.TH SBX-STDIO 1 "" "sbx-stdio ${version}"
.SH NAME
sbx-stdio \\- a terminal, or a pipeline, to a process in a sandbox
.SH SYNOPSIS
${synopsis(program)}
.SH DESCRIPTION
${roff(program.description())}
.SH OPTIONS
${optionLines(optionsOf(program))}
.SH COMMANDS
${sections.join("\n")}
.SH EXIT STATUS
That of the remote process, 128 + N if signal N killed it, 126 or 127 if it could not be started; 2: wrong usage; 255: no
connection, refused, or failed here; 141: whoever read the output has gone; 124 of run and wait: not in time.
`;
}

/** Each form on a line of its own. */
function synopsis(program: Command): string {
  const forms = `sbx-stdio ${program.usage()}`.split("\n");
  return forms.map((form) => roff(form.trim())).join("\n.br\n");
}

function optionLines(options: readonly Option[]): string {
  return options.map((option) => `.TP\n.B ${roff(option.flags)}\n${roff(option.description)}`).join("\n");
}

/** A line must not begin as one of roff's own. */
function roff(text: string): string {
  return text
    .replace(/\\/g, "\\e")
    .replace(/-/g, "\\-")
    .replace(/^([.'])/gm, "\\&$1");
}
