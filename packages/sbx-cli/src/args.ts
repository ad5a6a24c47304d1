// The words of the command line, read into one of a few commands. Prints nothing, ends nothing, knows no environment.

import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { type Delivery, isName, MAX_KEEP_SECONDS, type Mode, type Role } from "sandbox-stdio/core";
import { type Endpoint, readEndpoint } from "./endpoint.ts";
import { readFirstWord } from "./first-word.ts";
import { usage } from "./outcome.ts";
import { readProcess, wordsAfterDashes } from "./process-args.ts";
import { addSharing } from "./share-args.ts";
import { readShareLink } from "./share-link.ts";
import type { ShareCommand } from "./sharing.ts";
import type { TicketSource } from "./ticket.ts";

export type AttachWish = {
  readonly endpoint: Endpoint;
  readonly sandbox: string;
  /** Absent: a name of our own making, which nobody else knows. */
  readonly session: string | undefined;
  readonly cmd: string | undefined;
  readonly args: readonly string[];
  readonly env: readonly (readonly [string, string])[];
  readonly cwd: string | undefined;
  /** Absent: a PTY where standard input and output are both terminals. */
  readonly tty: boolean | undefined;
  readonly name: string | undefined;
  readonly role: Role | undefined;
  readonly mode: Mode | undefined;
  readonly delivery: Delivery | undefined;
  readonly keep: number | undefined;
  readonly token: string | undefined;
  /** What somebody else's session was shared with. */
  readonly ticket: string | undefined;
  /** Where that stands instead of here. */
  readonly ticketFrom: TicketSource | undefined;
  readonly resumeFile: string | undefined;
  /** Whether it is told who comes and goes, and who types. */
  readonly hasStatus: boolean;
  readonly isVerbose: boolean;
};

export type CliCommand =
  | { readonly kind: "attach"; readonly wish: AttachWish }
  | {
      readonly kind: "login";
      readonly endpoint: Endpoint | undefined;
      readonly issuer: string | undefined;
      readonly clientId: string | undefined;
      readonly mayOpenBrowser: boolean;
      readonly isForced: boolean;
    }
  /** Without a server: of every login. */
  | { readonly kind: "logout"; readonly endpoint: Endpoint | undefined }
  | {
      readonly kind: "sessions";
      readonly endpoint: Endpoint;
      readonly sandbox: string;
      readonly token: string | undefined;
      readonly isJson: boolean;
    }
  | {
      readonly kind: "kill";
      readonly endpoint: Endpoint;
      readonly sandbox: string;
      readonly session: string;
      readonly token: string | undefined;
    }
  | ShareCommand
  /** `--help` or `--version`: text for standard output. */
  | { readonly kind: "show"; readonly text: string };

const EXAMPLES = `
Examples:
  sbx-stdio https://host/attach --sandbox dev
  sbx-stdio https://host --sandbox dev -- npm test
  sbx-stdio share https://host --sandbox dev --session build
  sbx-stdio https://host --sandbox dev --cmd bash --arg -lc --arg "npm test"
  tar c src | sbx-stdio https://host --sandbox dev -- tar xC /workspace

Ctrl+] detaches from a terminal and leaves the session running. Ctrl+^ says what else can be done: who is here, asking for
the keyboard, giving it.
The exit code is that of the remote process (128 + N if signal N killed it); 2: wrong usage; 255: no connection,
refused, or failed here; 141: whoever read the output has gone.
`;

/** @param argv Without the runtime's and the program's own names. @throws {CliError} With exit code 2. */
export function parseArgs(argv: readonly string[], version: string): CliCommand {
  let result: CliCommand | undefined;
  let shown = "";
  const program = new Command("sbx-stdio")
    .description("Attaches this terminal, or a pipeline, to a process in a sandbox.")
    .version(version, "-V, --version")
    .helpCommand(false)
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => {
        shown += text;
      },
      // The error is thrown as well; it is said once, by whoever catches it.
      writeErr: () => undefined,
    });
  addAttach(program, argv, (command) => {
    result = command;
  });
  addLogin(program, (command) => {
    result = command;
  });
  addSessions(program, (command) => {
    result = command;
  });
  addSharing(program, readName, (command) => {
    result = command;
  });
  try {
    const commands = program.commands.map((command) => command.name());
    program.parse(readFirstWord(argv, commands), { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return { kind: "show", text: shown };
    if (argv.length === 0) throw usage("which server? See sbx-stdio --help");
    throw usage(error.message.replace(/^error: /, "").replace(/\.$/, ""));
  }
  if (result === undefined) throw usage("what is to be done? See sbx-stdio --help");
  return result;
}

type Done = (command: CliCommand) => void;

/** The program itself is the command that attaches. */
function addAttach(command: Command, argv: readonly string[], done: Done): void {
  command
    .usage(
      "URL [options] [-- COMMAND [ARGUMENT…]]\n       sbx-stdio login | logout | sessions | kill | share | tickets | revoke [options]",
    )
    .argument("<url>", "the server: https://HOST or https://HOST/attach, or a link that shares a session")
    .argument("[command...]", "after --: the command and its arguments, given to no shell")
    .option("--sandbox <id>", "the sandbox", readName, "default")
    .option("--session <name>", "the session: attached to if it runs, else started under this name", readName)
    .option("--cmd <command>", "the command, instead of -- (default: bash)")
    .option("--arg <argument>", "an argument of --cmd, repeatable", collect)
    .option("--env <name=value>", "a variable of the command's environment, repeatable", collectEnv)
    .option("--cwd <directory>", "where the command starts")
    .option("--tty", "a PTY (default: where standard input and output are both terminals)")
    .option("--no-tty", "three pipes")
    .option("--name <text>", "what others on the session see you as")
    .addOption(new Option("--role <role>", "a viewer only reads").choices(["driver", "viewer"]))
    .addOption(new Option("--mode <mode>", "who may type in a new session").choices(["collaborative", "exclusive"]))
    .addOption(new Option("--delivery <kind>", "what happens when you read slowly").choices(["live", "lossless"]))
    .option("--keep <seconds>", "how long a new session lives with nobody attached", readKeep)
    .option("--token <token>", "access token (default: SBX_TOKEN, DO_TOKEN, or the stored login)")
    .option(
      "--ticket <ticket>",
      "what --session was shared with, where the URL is not the whole link; - is a line of input",
    )
    .option("--ticket-file <file>", "the same, in a file")
    .option("--resume-file <file>", "keep the place there, and go on from it if it exists")
    .option("--status", "say who comes, goes and types, here and in the terminal's title")
    .option("--verbose", "say on standard error what goes on")
    .addHelpText("after", EXAMPLES);
  command.action((url: string, words: readonly string[]) => {
    const flags = command.opts<AttachFlags>();
    const link = readShareLink(url);
    const endpoint = readEndpoint(link?.address ?? url);
    const { cmd, args } = readProcess(wordsAfterDashes(command, argv), words, flags);
    const tickets = [link?.ticket, flags.ticket, flags.ticketFile].filter((one) => one !== undefined);
    if (link !== undefined && flags.session !== undefined)
      throw usage("the link says which session: leave out --session");
    if (tickets.length > 1) throw usage("two tickets: give the link, --ticket or --ticket-file");
    if (tickets.length > 0 && cmd !== undefined) throw usage("a shared session runs its command already: leave it out");
    if (tickets.length > 0 && link === undefined && flags.session === undefined)
      throw usage("--ticket needs --session");
    done({
      kind: "attach",
      wish: {
        endpoint,
        sandbox: link?.sandbox ?? flags.sandbox,
        session: link?.session ?? flags.session,
        cmd,
        args,
        env: flags.env ?? [],
        cwd: flags.cwd,
        tty: flags.tty,
        name: flags.name,
        role: flags.role ?? link?.role,
        mode: flags.mode,
        delivery: flags.delivery,
        keep: flags.keep,
        token: flags.token,
        ticket: link?.ticket ?? (flags.ticket === "-" ? undefined : flags.ticket),
        ticketFrom: ticketSource(flags),
        resumeFile: flags.resumeFile,
        hasStatus: flags.status === true,
        isVerbose: flags.verbose === true,
      },
    });
  });
}

type AttachFlags = {
  sandbox: string;
  session?: string;
  cmd?: string;
  arg?: string[];
  env?: [string, string][];
  cwd?: string;
  tty?: boolean;
  name?: string;
  role?: Role;
  mode?: Mode;
  delivery?: Delivery;
  keep?: number;
  token?: string;
  ticket?: string;
  ticketFile?: string;
  resumeFile?: string;
  status?: boolean;
  verbose?: boolean;
};

function ticketSource({ ticket, ticketFile }: AttachFlags): TicketSource | undefined {
  if (ticketFile !== undefined) return { from: "file", path: ticketFile };
  return ticket === "-" ? { from: "stdin" } : undefined;
}

function addLogin(program: Command, done: Done): void {
  program
    .command("login [url]")
    .description("log in with a browser, here or on another device, and store the token")
    .option("--issuer <url>", "who issues the token (default: OAUTH_API_URL, or https://id.org.ai)")
    .option("--client-id <id>", "the client to log in as (default: OAUTH_CLIENT_ID, or the issuer's usual one)")
    .option("--no-browser", "open no browser here")
    .option("--force", "log in again even if a stored token is good")
    .action(
      (url: string | undefined, flags: { issuer?: string; clientId?: string; browser: boolean; force?: boolean }) => {
        done({
          kind: "login",
          endpoint: url === undefined ? undefined : readEndpoint(url),
          issuer: flags.issuer === undefined ? undefined : readEndpoint(flags.issuer).httpBase,
          clientId: flags.clientId,
          mayOpenBrowser: flags.browser,
          isForced: flags.force === true,
        });
      },
    );
  program
    .command("logout [url]")
    .description("forget the login for that server; without one, every stored token")
    .action((url: string | undefined) => {
      done({ kind: "logout", endpoint: url === undefined ? undefined : readEndpoint(url) });
    });
}

function addSessions(program: Command, done: Done): void {
  const token = "access token (default: SBX_TOKEN, DO_TOKEN, or the stored login)";
  program
    .command("sessions <url>")
    .description("list the sessions of a sandbox, newest first")
    .option("--sandbox <id>", "the sandbox", readName, "default")
    .option("--token <token>", token)
    .option("--json", "as the server says it")
    .action((url: string, flags: { sandbox: string; token?: string; json?: boolean }) => {
      const { sandbox, token: given } = flags;
      done({ kind: "sessions", endpoint: readEndpoint(url), sandbox, token: given, isJson: flags.json === true });
    });
  program
    .command("kill <url>")
    .description("end a session: SIGHUP, then SIGTERM, then SIGKILL to its processes")
    .option("--sandbox <id>", "the sandbox", readName, "default")
    .requiredOption("--session <name>", "the session", readName)
    .option("--token <token>", token)
    .action((url: string, flags: { sandbox: string; session: string; token?: string }) => {
      done({
        kind: "kill",
        endpoint: readEndpoint(url),
        sandbox: flags.sandbox,
        session: flags.session,
        token: flags.token,
      });
    });
}

function collect(value: string, before: string[] | undefined): string[] {
  return [...(before ?? []), value];
}

function collectEnv(value: string, before: [string, string][] | undefined): [string, string][] {
  const at = value.indexOf("=");
  if (!/^[A-Za-z_][A-Za-z0-9_]*=/.test(value)) throw new InvalidArgumentError("It must be NAME=VALUE");
  return [...(before ?? []), [value.slice(0, at), value.slice(at + 1)]];
}

function readName(value: string): string {
  if (isName(value)) return value;
  throw new InvalidArgumentError(
    "It must be 1 to 64 letters, digits, dots, dashes or underscores, and not start with a dot or dash",
  );
}

function readKeep(value: string): number {
  const seconds = /^\d{1,6}$/.test(value) ? Number(value) : Number.NaN;
  if (seconds <= MAX_KEEP_SECONDS) return seconds;
  throw new InvalidArgumentError(`It must be a whole number of seconds from 0 to ${MAX_KEEP_SECONDS}`);
}
