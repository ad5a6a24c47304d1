// Completion scripts and the manual page, generated from the description of the command line. Pure.

import os from "node:os";
import type { Command, Option } from "commander";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

/** Options whose values the program itself lists on completion (complete.ts). */
const NAMES: Readonly<Record<string, string>> = {
  "--context": "contexts",
  "--sandbox": "sandboxes",
  "--session": "sessions",
};
/** The only verb that takes local paths. */
const TAKES_FILES = "cp";
/** Values of a verb's second word: after these first words only, if there are some. */
const SECOND: Readonly<Record<string, { readonly after?: readonly string[] } & Values>> = {
  context: { after: ["use", "remove", "set"], asked: "contexts" },
  signal: { choices: Object.keys(os.constants.signals) },
};
/** Verbs whose words the program lists and that are not sessions. */
const ASKED: Readonly<Record<string, string>> = { revoke: "tickets" };
/** Verbs that take a command, so a bare word is no session. */
const TAKE_COMMANDS: readonly string[] = ["run", "exec"];

type Values = { readonly choices?: readonly string[]; readonly asked?: string };

type Words = {
  readonly name: string;
  readonly description: string;
  readonly options: readonly Option[];
  /** What the program lists for a word: sessions or tickets. */
  readonly asked: string | undefined;
  /** Fixed values of the next word. */
  readonly choices: readonly string[];
};

export function completionFor(shell: Shell, program: Command): string {
  const commands = visible(program);
  const own = optionsOf(program);
  if (shell === "bash") return bash(commands, own);
  return shell === "zsh" ? zsh(commands, own) : fish(commands, own);
}

function visible(program: Command): Words[] {
  const shown = program.createHelp().visibleCommands(program);
  return shown.map((command) => {
    const options = optionsOf(command);
    const hasSession = options.some(({ long }) => long === "--session");
    return {
      name: command.name(),
      description: command.description(),
      options,
      asked: ASKED[command.name()] ?? (hasSession && !TAKE_COMMANDS.includes(command.name()) ? "sessions" : undefined),
      choices: [
        ...command.commands.map((inner) => inner.name()),
        ...command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
      ],
    };
  });
}

function optionsOf(command: Command): readonly Option[] {
  return command.createHelp().visibleOptions(command);
}

const flagsOf = (options: readonly Option[]) => options.flatMap(namesOf).join(" ");

const namesOf = ({ short, long }: Option) => [short, long].filter((flag) => flag !== undefined);

/** The values of an option: fixed, or listed by the program. */
function valuesOf(option: Option): Values {
  const asked = NAMES[option.long ?? ""];
  if (asked !== undefined) return { asked };
  return option.argChoices === undefined ? {} : { choices: option.argChoices };
}

function bash(commands: readonly Words[], own: readonly Option[]): string {
  const all = [...own, ...commands.flatMap(({ options }) => options)].filter(takesValue);
  const byFlags = new Map(all.map((option) => [namesOf(option).join("|"), option]));
  const values = [...byFlags].map(([flags, option]) => {
    const { choices, asked } = valuesOf(option);
    if (asked !== undefined) return `    ${flags}) _sbx_stdio_names ${asked}; return ;;`;
    return choices === undefined
      ? `    ${flags}) return ;;`
      : `    ${flags}) COMPREPLY=($(compgen -W "${choices.join(" ")}" -- "$current")); return ;;`;
  });
  const flags = commands.map(({ name, options }) => `    ${name}) words="${flagsOf(options)}" ;;`);
  const asked = commands.flatMap(({ name, asked: what }) =>
    what === undefined ? [] : [`    ${name}) _sbx_stdio_names ${what}; return ;;`],
  );
  const seconds = Object.entries(SECOND).map(([name, { after = ["*"], ...values }]) => {
    const words = `COMPREPLY=($(compgen -W "${values.choices?.join(" ")}" -- "$current"))`;
    const said = values.asked === undefined ? words : `_sbx_stdio_names ${values.asked}`;
    return `    ${name}:${after.join(` | ${name}:`)}) compopt +o default; ${said}; return ;;`;
  });
  const choices = commands
    .filter((command) => command.choices.length > 0)
    .map(({ name, choices: words }) => `    ${name}) ((COMP_CWORD == 2)) && words="${words.join(" ")}" ;;`);
  return `# bash completion of sbx-stdio
_sbx_stdio_names() {
  local typed
  read -ra typed <<<"$COMP_LINE"
  compopt +o default
  COMPREPLY=($(compgen -W "$("\${COMP_WORDS[0]}" __complete "$1" "\${typed[@]:1}" 2>/dev/null)" -- "$current"))
}
_sbx_stdio() {
  local current=\${COMP_WORDS[COMP_CWORD]} words= i verbs="${verbsOf(commands).join(" ")}"
  for ((i = 1; i < COMP_CWORD; i++)); do [[ \${COMP_WORDS[i]} == -- ]] && return; done
  case \${COMP_WORDS[COMP_CWORD - 1]} in
${values.join("\n")}
  esac
  if [[ $current == -* ]]; then
    case \${COMP_WORDS[1]} in
${flags.join("\n")}
    *) words="${flagsOf(own)}" ;;
    esac
  elif ((COMP_CWORD == 1)); then
    words="$verbs"
  else
    ((COMP_CWORD == 3)) && case "\${COMP_WORDS[1]}:\${COMP_WORDS[2]}" in
    *:-*) ;;
${seconds.join("\n")}
    esac
    # A colon is a word to bash: behind it stands a path of the sandbox.
    [[ \${COMP_WORDS[1]} == ${TAKES_FILES} && ($current == :* || \${COMP_WORDS[COMP_CWORD - 1]} == :) ]] && {
      compopt +o default
      return
    }
    case \${COMP_WORDS[1]} in
    help) ((COMP_CWORD == 2)) && words="$verbs" ;;
${asked.join("\n")}
${choices.join("\n")}
    esac
    [[ \${COMP_WORDS[1]} == ${TAKES_FILES} ]] || compopt +o default
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _sbx_stdio sbx-stdio
`;
}

function zsh(commands: readonly Words[], own: readonly Option[]): string {
  const action = (option: Option) => {
    const { choices, asked } = valuesOf(option);
    if (asked === undefined) return choices === undefined ? "" : `(${choices.join(" ")})`;
    // The space keeps zsh from inserting its own words before ours.
    return ` _sbx_stdio_names ${asked}`;
  };
  const described = (options: readonly Option[]) =>
    options.flatMap((option) => {
      const value = takesValue(option) ? `:value:${action(option)}` : "";
      return namesOf(option).map((flag) => zshQuote(`${flag}[${zshText(option.description)}]${value}`));
    });
  const second = (name: string) => {
    const { choices, asked } = SECOND[name] ?? {};
    if (asked !== undefined) return `'2:name: _sbx_stdio_names ${asked}' `;
    return choices === undefined ? "" : `'2:word:(${choices.join(" ")})' `;
  };
  const words = ({ name, asked, choices }: Words) => {
    if (choices.length > 0) return `'1:word:(${choices.join(" ")})' ${second(name)}'*:word:_sbx_stdio_none'`;
    if (asked !== undefined) return `${second(name)}'*:name: _sbx_stdio_names ${asked}'`;
    return name === TAKES_FILES ? "'*:file:_files'" : "'*:word:_sbx_stdio_none'";
  };
  const names = commands.map(({ name, description }) => zshQuote(`${name}:${zshText(description)}`));
  const cases = commands.map(
    (command) => `    ${command.name}) _arguments ${described(command.options).join(" ")} ${words(command)} ;;`,
  );
  return `#compdef sbx-stdio
_sbx_stdio_names() {
  local -a names
  names=(\${(f)"$($typed[1] __complete $1 "\${(@)typed[2,-1]}" 2>/dev/null)"})
  compadd -a names
}
# Without an action zsh would show a message, and insert no option beside it.
_sbx_stdio_none() { return 1 }
_sbx_stdio() {
  local -a names typed
  typed=("\${(@)words}")
  names=(${names.join(" ")})
  if ((CURRENT == 2)) && [[ $words[2] != -* ]]; then _describe command names; return; fi
  if ((\${words[(I)--]} > 0 && \${words[(I)--]} < CURRENT)); then _files; return; fi
  # To _arguments the verb is the program.
  if [[ $words[2] != -* ]]; then shift words; ((CURRENT--)); fi
  case $typed[2] in
    help) _arguments '1:word:(${commands.map(({ name }) => name).join(" ")})' ;;
${cases.join("\n")}
    *) _arguments ${described(own).join(" ")} '*:word:_files' ;;
  esac
}
compdef _sbx_stdio sbx-stdio
`;
}

function fish(commands: readonly Words[], own: readonly Option[]): string {
  const ask = (asked: string) => `(sbx-stdio __complete ${asked} (commandline -opc)[2..] 2>/dev/null)`;
  const values = (option: Option) => {
    if (!takesValue(option)) return "";
    const { choices, asked } = valuesOf(option);
    if (asked !== undefined) return ` -x -a '${ask(asked)}'`;
    return choices === undefined ? " -r" : ` -x -a '${choices.join(" ")}'`;
  };
  const line = (condition: string, option: Option) => {
    const short = option.short === undefined ? "" : ` -s ${option.short.slice(1)}`;
    const long = option.long === undefined ? "" : ` -l ${option.long.slice(2)}`;
    return `complete -c sbx-stdio -n '${condition}'${short}${long}${values(option)} -d ${fishQuote(option.description)}`;
  };
  const second = (name: string) => {
    const { after, choices, asked } = SECOND[name] ?? {};
    const inner = after === undefined ? "" : `; and __fish_seen_subcommand_from ${after.join(" ")}`;
    const values = asked === undefined ? choices?.join(" ") : ask(asked);
    if (values === undefined) return [];
    return [`complete -c sbx-stdio -n '__fish_seen_subcommand_from ${name}${inner}' -f -a '${values}'`];
  };
  const word = ({ name, asked, choices }: Words) => {
    const seen = `complete -c sbx-stdio -n '__fish_seen_subcommand_from ${name}' -f`;
    if (choices.length > 0) return [`${seen} -a '${choices.join(" ")}'`, ...second(name)];
    if (asked !== undefined) return [`${seen} -a '${ask(asked)}'`, ...second(name)];
    return name === TAKES_FILES ? [] : [seen];
  };
  const names = commands.map(({ name }) => name).join(" ");
  const lines = [
    "complete -c sbx-stdio -n __fish_use_subcommand -f",
    `complete -c sbx-stdio -n '__fish_seen_subcommand_from help' -f -a '${names}'`,
    ...commands.map(
      ({ name, description }) =>
        `complete -c sbx-stdio -n __fish_use_subcommand -a ${name} -d ${fishQuote(description)}`,
    ),
    ...commands.flatMap((command) => [
      ...word(command),
      ...command.options.map((option) => line(`__fish_seen_subcommand_from ${command.name}`, option)),
    ]),
    ...own.map((option) => line(`not __fish_seen_subcommand_from ${names}`, option)),
  ];
  return `# fish completion of sbx-stdio\n${lines.join("\n")}\n`;
}

const verbsOf = (commands: readonly Words[]) => [...commands.map(({ name }) => name), "help"];
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
That of the remote process, 128 + N if signal N killed it, 126 or 127 if it could not be started; 2: wrong usage; 255:
connection failed or refused, or a local error; 141: the reader of the output has gone; 124 of run and wait: timed out.
`;
}

/** One line for each form. */
function synopsis(program: Command): string {
  const forms = `sbx-stdio ${program.usage()}`.split("\n");
  return forms.map((form) => roff(form.trim())).join("\n.br\n");
}

function optionLines(options: readonly Option[]): string {
  return options.map((option) => `.TP\n.B ${roff(option.flags)}\n${roff(option.description)}`).join("\n");
}

/** Escapes text, including lines that begin like a request. */
function roff(text: string): string {
  return text
    .replace(/\\/g, "\\e")
    .replace(/-/g, "\\-")
    .replace(/^([.'])/gm, "\\&$1");
}
