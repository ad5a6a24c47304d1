// The commands that attach: the program itself, `attach` and `exec`.

import { type Command, Option } from "commander";
import { type AttachOptions, defined, type PredictionMode } from "sandbox-stdio/core";
import { usage } from "../base/outcome.ts";
import type { AttachRequest, CliCommand, Defaults, Escapes } from "./cli-command.ts";
import { addParams, attachParamsOf } from "./params.ts";
import { readProcess } from "./process-args.ts";
import { collect, collectEnv, readName, readWhole } from "./readers.ts";
import { readShareLink } from "./share-link.ts";
import { addTarget, endpointOf, nameOrAddress, type TargetFlags, targetOf } from "./target.ts";
import type { TicketSource } from "./ticket.ts";

export type AttachFlags = TargetFlags &
  AttachOptions & {
    cmd?: string;
    arg?: string[];
    env?: [string, string][];
    cwd?: string;
    tty?: boolean;
    giveUp?: number;
    ticket?: string;
    ticketFile?: string;
    resumeFile?: string;
    status?: boolean;
    verbose?: boolean;
    quiet?: boolean;
    input?: boolean;
    keepKeys?: boolean;
    escape?: EscapeChoice;
    predict?: PredictionMode;
    interactive?: boolean;
    create?: boolean;
  };

type EscapeChoice = "both" | "control" | "tilde" | "none";

/** The split command line: the words after `--` belong to the command. */
export type Words = {
  readonly afterDashes: readonly string[] | undefined;
  /** The verb, if one was given. */
  readonly verb?: "attach" | "exec";
};

export function addAttachOptions(command: Command): Command {
  addTarget(command)
    .option("--session <name>", "session name: attach if it is running, else start it", readName)
    .option("--cmd <command>", "the command, instead of -- (default: bash)")
    .option("--arg <argument>", "argument of --cmd (repeatable)", collect)
    .option("-e, --env <name=value>", "environment variable of the command (repeatable)", collectEnv)
    .option("-w, --cwd <directory>", "working directory of the command")
    .option("-t, --tty", "use a PTY (default: if standard input and output are both terminals)")
    .option("-T, --no-tty", "use three pipes")
    .option("-i, --interactive", "send standard input (the default; accepted for -it)")
    .option("-n, --no-input", "do not read standard input; the command gets none");
  return addParams(command, "attach")
    .option(
      "--give-up <seconds>",
      "how long to retry an unreachable server (default: 1800, or --keep if longer)",
      readWhole(1, 604_800, " of seconds"),
    )
    .option(
      "--ticket <ticket>",
      "share ticket of --session, if URL is not the whole link; - reads a line of standard input",
    )
    .option("--ticket-file <file>", "file that contains the ticket")
    .option("--resume-file <file>", "save the position in this file, and resume from it if it exists")
    .option("--keep-keys", "keep keys typed while disconnected, and send them on reconnect")
    .addOption(
      new Option(
        "--escape <keys>",
        "escape keys: control is Ctrl+] and Ctrl+^, tilde is ~. at the start of a line",
      ).choices(["both", "control", "tilde", "none"]),
    )
    .addOption(
      new Option(
        "--predict <when>",
        "show typed characters, underlined, before their echo; auto: from 50 ms of round trip (default: auto)",
      ).choices(["auto", "always", "never"]),
    )
    .option("--status", "show who joins, leaves and types, here and in the terminal title")
    .option("-q, --quiet", "print only the final message")
    .option("-v, --verbose", "print progress to standard error");
}

/** @throws {CliError} */
export function attachOf(
  word: string | undefined,
  words: readonly string[],
  flags: AttachFlags,
  { afterDashes, verb }: Words,
  defaults: Defaults,
): CliCommand {
  const saysAttach = verb === "attach";
  if (flags.interactive === true && flags.input === false) throw usage("give -i or -n, not both");
  const { url, session } = saysAttach ? nameOrAddress(word, flags) : { url: word, session: flags.session };
  // A bare name must be a running session.
  const isNamed = saysAttach && flags.session === undefined && session !== undefined;
  const link = url === undefined ? undefined : readShareLink(url);
  const endpoint = endpointOf(link?.address ?? url, defaults);
  const { cmd, args } = readProcess(afterDashes, words, flags, verb);
  const tickets = [link?.ticket, flags.ticket, flags.ticketFile].filter((one) => one !== undefined);
  if (link !== undefined && session !== undefined) throw usage("--session cannot be combined with a share link");
  if (tickets.length > 1) throw usage("use only one of a share link, --ticket and --ticket-file");
  if (tickets.length > 0 && cmd !== undefined) throw usage("a shared session already has a command");
  if (tickets.length > 0 && link === undefined && session === undefined) throw usage("--ticket needs --session");
  const target = targetOf(endpoint.typed, flags, defaults);
  // The context's session is for coming back: a new command gets its own session.
  const fallback = cmd === undefined ? defaults.session : undefined;
  const request: AttachRequest = {
    ...target,
    endpoint,
    sandbox: link?.sandbox ?? target.sandbox,
    session: link?.session ?? session ?? fallback,
    cmd,
    args,
    env: flags.env ?? [],
    cwd: flags.cwd,
    tty: flags.tty,
    ...attachParamsOf(flags),
    role: flags.role ?? link?.role,
    giveUp: flags.giveUp,
    ticket: link?.ticket ?? (flags.ticket === "-" ? undefined : flags.ticket),
    ticketFrom: ticketSource(flags),
    resumeFile: flags.resumeFile,
    hasStatus: flags.status === true,
    isVerbose: flags.verbose === true,
    ...defined({
      isQuiet: flags.quiet || undefined,
      hasNoInput: flags.input === false || undefined,
      keepsKeys: flags.keepKeys || undefined,
      escapes: flags.escape && escapesOf(flags.escape),
      prediction: flags.predict,
    }),
  };
  // Nothing names a session: ask.
  const offersSessions =
    saysAttach && url === undefined && request.session === undefined && cmd === undefined && tickets.length === 0;
  const isViewing = request.role === "viewer" || tickets.length > 0 || request.resumeFile !== undefined;
  const isNamedShell = saysAttach && request.session !== undefined && cmd === undefined && !isViewing;
  if (!isNamedShell) return { kind: "attach", request, ...defined({ offersSessions: offersSessions || undefined }) };
  return { kind: "attach", request, ...(isNamed && flags.create !== true ? { mustRun: true } : { checksFirst: true }) };
}

function escapesOf(choice: EscapeChoice): Escapes {
  return { control: choice === "both" || choice === "control", tilde: choice === "both" || choice === "tilde" };
}

function ticketSource({ ticket, ticketFile }: AttachFlags): TicketSource | undefined {
  if (ticketFile !== undefined) return { from: "file", path: ticketFile };
  return ticket === "-" ? { from: "stdin" } : undefined;
}
