// The words of the commands that attach: the program itself, `attach` and `exec`.

import { type Command, Option } from "commander";
import { type AttachOptions, defined } from "sandbox-stdio/core";
import type { AttachWish, CliCommand, Defaults, Escapes } from "../cli-command.ts";
import { usage } from "../outcome.ts";
import { readProcess } from "../process-args.ts";
import { readShareLink } from "../share-link.ts";
import type { TicketSource } from "../ticket.ts";
import { addParams, attachParamsOf } from "./params.ts";
import { addPlace, endpointOf, nameOrAddress, type PlaceFlags, placeOf } from "./place.ts";
import { collect, collectEnv, readName, readWhole } from "./readers.ts";

export type AttachFlags = PlaceFlags &
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
    interactive?: boolean;
    create?: boolean;
  };

type EscapeChoice = "both" | "control" | "tilde" | "none";

/** How the command line was split: the words behind `--` are the command's. */
export type Words = {
  readonly afterDashes: readonly string[] | undefined;
  /** The verb that was said, if any. */
  readonly verb?: "attach" | "exec";
};

export function addAttachOptions(command: Command): Command {
  addPlace(command)
    .option("--session <name>", "the session: attached to if it runs, else started under this name", readName)
    .option("--cmd <command>", "the command, instead of -- (default: bash)")
    .option("--arg <argument>", "an argument of --cmd, repeatable", collect)
    .option("-e, --env <name=value>", "a variable of the command's environment, repeatable", collectEnv)
    .option("-w, --cwd <directory>", "where the command starts")
    .option("-t, --tty", "a PTY (default: where standard input and output are both terminals)")
    .option("-T, --no-tty", "three pipes")
    .option("-i, --interactive", "send standard input: what happens anyway, so that -it may be said")
    .option("-n, --no-input", "leave standard input alone: the command gets none");
  return addParams(command, "attach")
    .option(
      "--give-up <seconds>",
      "how long a server that is gone is tried for (default: 1800, or --keep if that is longer)",
      readWhole(1, 604_800, " of seconds"),
    )
    .option(
      "--ticket <ticket>",
      "what --session was shared with, where the URL is not the whole link; - is a line of input",
    )
    .option("--ticket-file <file>", "the same, in a file")
    .option("--resume-file <file>", "keep the place there, and go on from it if it exists")
    .option("--keep-keys", "send what is typed while the connection is down when it is back")
    .addOption(
      new Option("--escape <keys>", "keys of our own: Ctrl+] and Ctrl+^, or ~. at a line's start").choices([
        "both",
        "control",
        "tilde",
        "none",
      ]),
    )
    .option("--status", "say who comes, goes and types, here and in the terminal's title")
    .option("-q, --quiet", "say nothing but what ends the run")
    .option("-v, --verbose", "say on standard error what goes on");
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
  // Said by name alone: what is meant is there.
  const isNamed = saysAttach && flags.session === undefined && session !== undefined;
  const link = url === undefined ? undefined : readShareLink(url);
  const endpoint = endpointOf(link?.address ?? url, defaults);
  const { cmd, args } = readProcess(afterDashes, words, flags, verb);
  const tickets = [link?.ticket, flags.ticket, flags.ticketFile].filter((one) => one !== undefined);
  if (link !== undefined && session !== undefined) throw usage("the link says which session: leave out --session");
  if (tickets.length > 1) throw usage("two tickets: give the link, --ticket or --ticket-file");
  if (tickets.length > 0 && cmd !== undefined) throw usage("a shared session runs its command already: leave it out");
  if (tickets.length > 0 && link === undefined && session === undefined) throw usage("--ticket needs --session");
  const place = placeOf(endpoint.typed, flags, defaults);
  // A context's session is the one to come back to: a command of its own gets one of its own.
  const usual = cmd === undefined ? defaults.session : undefined;
  const wish: AttachWish = {
    ...place,
    endpoint,
    sandbox: link?.sandbox ?? place.sandbox,
    session: link?.session ?? session ?? usual,
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
    }),
  };
  // Nothing says to what: that is asked.
  const isOffered =
    saysAttach && url === undefined && wish.session === undefined && cmd === undefined && tickets.length === 0;
  const isLooking = wish.role === "viewer" || tickets.length > 0 || wish.resumeFile !== undefined;
  const isOfOne = saysAttach && wish.session !== undefined && cmd === undefined && !isLooking;
  if (!isOfOne) return { kind: "attach", wish, ...defined({ isOffered: isOffered || undefined }) };
  return { kind: "attach", wish, ...(isNamed && flags.create !== true ? { mustRun: true } : { looksFirst: true }) };
}

function escapesOf(choice: EscapeChoice): Escapes {
  return { control: choice === "both" || choice === "control", tilde: choice === "both" || choice === "tilde" };
}

function ticketSource({ ticket, ticketFile }: AttachFlags): TicketSource | undefined {
  if (ticketFile !== undefined) return { from: "file", path: ticketFile };
  return ticket === "-" ? { from: "stdin" } : undefined;
}
