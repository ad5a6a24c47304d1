// Parses the command line into a command. Prints nothing, ends nothing, knows no environment.

import { EventEmitter } from "node:events";
import { Command, CommanderError, Option } from "commander";
import { MAX_CLIENTS, type Role } from "sandbox-stdio/core";
import { usage } from "../base/outcome.ts";
import { type AttachFlags, addAttachOptions, attachOf, type Words } from "./attach.ts";
import type { CliCommand, Defaults, ShareCommand } from "./cli-command.ts";
import { addExamples } from "./examples.ts";
import { flagHints, isBare, readFirstWord, VERBS } from "./first-word.ts";
import { addMcpWords } from "./mcp.ts";
import { refuseMisplaced, wordsAfterDashes } from "./process-args.ts";
import { addPrograms } from "./programs.ts";
import { readWhole, refuseSecondValues } from "./readers.ts";
import { addRecordings } from "./recordings.ts";
import { addServe } from "./serve.ts";
import { addLogin, addSessions } from "./sessions.ts";
import { addSessionTarget, isAddress, sessionTargetOf, type TargetFlags } from "./target.ts";
import { addTools } from "./tools.ts";

export type { AttachRequest, CliCommand } from "./cli-command.ts";

const KEYS_AND_CODES = `
sbx-stdio help COMMAND, or COMMAND --help, explains a command, with examples.
Ctrl+] detaches from a terminal and leaves the session running; so does ~. at the start of a line. Ctrl+^ opens a menu: who is
here, request or give the keyboard, status. --escape chooses which of these keys are active.
The exit code is that of the remote process (128 + N if signal N killed it; 126 or 127 if it could not be started); 2: wrong
usage; 255: connection failed or refused, or a local error; 141: the reader of the output has gone.
`;

/** Defaults of the named context, or of the current one. @throws {CliError} */
export type ReadDefaults = (context?: string) => Defaults;

/** @param argv Without the runtime's and the program's names. @throws {CliError} With exit code 2. */
export function parseArgs(
  argv: readonly string[],
  version: string,
  readDefaults: Defaults | ReadDefaults = {},
): CliCommand {
  let result: CliCommand | undefined;
  let shown = "";
  const done = (command: CliCommand) => {
    result = command;
  };
  const words = { afterDashes: undefined as readonly string[] | undefined };
  // Filled once --context is known, before any action uses it.
  const defaults: Defaults = {};
  const program = describeProgram(version, words, defaults, done, mayNameVerb(argv));
  program.hook("preAction", (_, command) => {
    if (command !== program) refuseBefore(program, command);
    const { context } = { ...program.opts<TargetFlags>(), ...command.opts<TargetFlags>() };
    if (hasTarget(command))
      Object.assign(defaults, typeof readDefaults === "function" ? readDefaults(context) : readDefaults);
  });
  for (const command of withInner(program)) {
    command.exitOverride().configureOutput({
      writeOut: (text) => {
        shown += text;
      },
      // The error is also thrown, and its catcher prints it.
      writeErr: () => undefined,
    });
  }
  try {
    const names = program.commands.map((command) => command.name());
    const read = readFirstWord(argv, names);
    const command = program.commands.find((one) => one.name() === read[0]) ?? program;
    for (const one of new Set([program, ...withInner(command)])) refuseSecondValues(one);
    words.afterDashes = wordsAfterDashes(command, read);
    if (words.afterDashes !== undefined && command !== program) refuseBehindDashes(command);
    if (TAKES_COMMAND.includes(command.name())) refuseMisplaced(command.name(), read.slice(1), words.afterDashes);
    const own = words.afterDashes === undefined ? read : read.slice(0, read.length - words.afterDashes.length - 1);
    program.parse(own, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return { kind: "show", text: shown };
    // commander puts its suggestion on a line of its own.
    throw usage(
      error.message
        .replace(/^error: /, "")
        .replace(/\.$/, "")
        .replace(/\n+/g, " "),
    );
  }
  if (result === undefined) throw usage("missing command; see sbx-stdio --help");
  return result;
}

/** Refuses an option before a verb, where it would be ignored. @throws {CliError} */
function refuseBefore(program: Command, command: Command): void {
  for (const option of program.options) {
    const name = option.attributeName();
    if (name === "context" || program.getOptionValueSource(name) !== "cli") continue;
    if (option.negate !== (program.getOptionValue(name) === false)) continue;
    const verb = command.name();
    throw usage(
      `${option.long} must follow the command: sbx-stdio ${verb} ${option.long}${option.required ? " …" : ""}`,
    );
  }
}

/** commander's default. */
const COMMANDERS_USAGE = "[options] [url]";

const usageOf = (command: Command) =>
  command.options.some(({ long }) => long === "--session") ? "[URL | NAME] [options]" : "[URL] [options]";

/** Verbs that take an optional address and a command. */
const TAKES_COMMAND: readonly string[] = ["exec", "run"];

/** Verbs that pass the words after -- to the sandbox. */
const TAKES_DASHES: readonly string[] = ["attach", ...TAKES_COMMAND, "serve", "ssh-proxy"];

/** @throws {CliError} If words after -- would be ignored. */
function refuseBehindDashes(command: Command): void {
  const verb = command.name();
  if (!TAKES_DASHES.includes(verb)) throw usage(`${verb} takes no command after --`);
}

function withInner(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(withInner)];
}

const hasTarget = (command: Command) => command.options.some(({ long }) => long === "--context");

/** Whether the words may contain a verb, or ask for help, which lists all verbs. */
function mayNameVerb(argv: readonly string[]): boolean {
  const own = argv.includes("--") ? argv.slice(0, argv.indexOf("--")) : argv;
  return own.some((word) => VERBS.includes(word) || word === "--help" || word === "-h") || isBare(argv[0] ?? "");
}

/**
 * The description of the command line: the source of help, manual page and completions.
 * @param hasVerbs Whether to describe the verbs, which takes time that attaching can save.
 */
export function describeProgram(
  version: string,
  words: Words,
  defaults: Defaults,
  done: (command: CliCommand) => void,
  hasVerbs = true,
): Command {
  const program = new QuickCommand("sbx-stdio")
    .description("Attaches this terminal, or a pipeline, to a process in a sandbox.")
    .version(version, "-V, --version")
    .helpCommand(false)
    .enablePositionalOptions();
  addAttachOptions(program)
    .usage("[URL] [options] [-- COMMAND [ARGUMENT…]]\n       sbx-stdio COMMAND [URL] [options]")
    .argument("[url]", "the server: https://HOST or https://HOST/attach, or a share link")
    .argument("[command...]", "after --: the command and its arguments, run without a shell")
    .action((url: string | undefined, rest: readonly string[]) => {
      done(attachOf(url, rest, program.opts<AttachFlags>(), words, defaults));
    });
  addExamples(program, "");
  program.addHelpText("after", KEYS_AND_CODES);
  if (!hasVerbs) return program;
  addAttachOptions(program.command("attach [url] [command...]"))
    .usage("[URL | NAME] [options] [-- COMMAND [ARGUMENT…]]")
    .description("attach to a session, or start it (the default command); NAME alone must be running")
    .option("--create", "start a shell if no session NAME is running")
    .action((url: string | undefined, rest: readonly string[], flags: AttachFlags) => {
      done(attachOf(url, rest, flags, { ...words, verb: "attach" }, defaults));
    });
  addAttachOptions(program.command("exec [url] [command...]"))
    .usage("[URL] [options] -- COMMAND [ARGUMENT…]")
    .description("run a command with this terminal or pipeline attached; like attach, but a command is required")
    .action((url: string | undefined, rest: readonly string[], flags: AttachFlags) => {
      if (words.afterDashes === undefined && flags.cmd === undefined) {
        if (url !== undefined) refuseMisplaced("exec", [url, ...rest], undefined, ["[options]"]);
        if (rest.length === 0) throw usage("exec needs a command after --");
      }
      if (url !== undefined && isBare(url)) throw usage(`"${url}" is not an address; ${flagHints(url)}`);
      done(attachOf(url, rest, flags, { ...words, verb: "exec" }, defaults));
    });
  addPrograms(program, words, defaults, done);
  addSessions(program, defaults, done);
  addRecordings(program, defaults, done);
  addSharing(program, defaults, done);
  addLogin(program, defaults, done);
  addTools(program, words, defaults, version, done);
  addServe(program, words, done);
  // Parsed by mcp-command.ts; here for help, the manual page and completions.
  addMcpWords(program.command("mcp"));
  for (const command of program.commands) {
    if (command.usage() === COMMANDERS_USAGE) command.usage(usageOf(command));
    addExamples(command, command.name());
  }
  return program;
}

/** The server's limit: 30 days. */
const MAX_SHARE_SECONDS = 30 * 24 * 3600;

type ShareFlags = { role: Role; seconds?: number; guests?: boolean; maxClients?: number; json?: boolean };

/** The commands that share a session: share, tickets, revoke. */
function addSharing(program: Command, defaults: Defaults, done: (command: ShareCommand) => void): void {
  const aboutSession = (name: string, what: string) => addSessionTarget(program.command(name)).description(what);
  aboutSession("share [url]", "create a link that shares a session")
    .addOption(
      new Option("--role <role>", "role of people who open the link").choices(["viewer", "driver"]).default("viewer"),
    )
    .option(
      "--seconds <n>",
      "lifetime of the link in seconds (default: a day)",
      readWhole(1, MAX_SHARE_SECONDS, " of seconds"),
    )
    .option("--guests", "allow people who are not logged in")
    .option("--max-clients <n>", "how many clients may use the link at a time (default: 16)", readWhole(1, MAX_CLIENTS))
    .option("--json", "print the server's answer as JSON")
    .action((url: string | undefined, flags: TargetFlags & ShareFlags) => {
      const { role, seconds, guests = false, maxClients, json = false } = flags;
      const target = sessionTargetOf(url, flags, defaults);
      done({ kind: "share", ...target, role, seconds, guests, maxClients, isJson: json });
    });
  aboutSession("tickets [url]", "list the valid share links of a session")
    .option("--json", "print the server's answer as JSON")
    .action((url: string | undefined, flags: TargetFlags & { json?: boolean }) => {
      done({ kind: "tickets", ...sessionTargetOf(url, flags, defaults), isJson: flags.json === true });
    });
  aboutSession("revoke <words...>", "revoke a share link, and disconnect everyone who used it")
    .usage("[URL] [options] ID")
    .action((given: readonly string[], flags: TargetFlags) => {
      const [url, ids] = isAddress(given[0]) ? [given[0], given.slice(1)] : [undefined, given];
      const [id, ...more] = ids;
      if (id === undefined || more.length > 0) throw usage("revoke needs the ID of one link; see sbx-stdio tickets");
      done({ kind: "revoke", ...sessionTargetOf(url, flags, defaults), id });
    });
}

type Listener = Parameters<Command["on"]>[1];

/** Prefix of commander's events for options. */
const OPTION = "option:";

/**
 * A commander Command that finds options by maps. commander searches all options for each added one, and keeps a listener for
 * each, which is enough work at the start to wake the runtimes' optimizing compilers. Knows no option by name.
 */
class QuickCommand extends Command {
  readonly #byFlag = new Map<string, Option>();
  readonly #readers = new Map<string, Listener[]>();
  #known = 0;

  override createCommand(name?: string): QuickCommand {
    return new QuickCommand(name);
  }

  override on(event: string | symbol, listener: Listener): this {
    if (typeof event !== "string" || !event.startsWith(OPTION)) return super.on(event, listener);
    this.#readers.set(event, [...(this.#readers.get(event) ?? []), listener]);
    return this;
  }

  /** commander's types leave out that a command is an emitter. */
  emit(event: string | symbol, ...values: unknown[]): boolean {
    const readers = typeof event === "string" ? this.#readers.get(event) : undefined;
    if (readers === undefined) return EventEmitter.prototype.emit.call(this, event, ...values);
    for (const read of readers) read(...values);
    return true;
  }

  /** Overrides commander's private method. Options are only added, and never two with one flag. */
  _findOption(flag: string): Option | undefined {
    for (; this.#known < this.options.length; this.#known += 1) {
      const option = this.options[this.#known];
      if (option?.short !== undefined) this.#byFlag.set(option.short, option);
      if (option?.long !== undefined) this.#byFlag.set(option.long, option);
    }
    return this.#byFlag.get(flag);
  }
}
