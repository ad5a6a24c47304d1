// The verbs over HTTP, with options named like the fields of the interface: run, read, write, wait, screen, commands, signal.

import os from "node:os";
import { type Command, Option } from "commander";
import type { Until } from "sandbox-stdio/client";
import { defined } from "sandbox-stdio/core";
import { usage } from "../base/outcome.ts";
import type { Words } from "./attach.ts";
import type { Defaults } from "./cli-command.ts";
import { collectKeys, readDuration, readWhole } from "./readers.ts";
import { addRun } from "./run.ts";
import { addSessionTarget, isAddress, sessionTargetOf, type TargetFlags } from "./target.ts";
import {
  type Done,
  MAX_TIMEOUT_MS,
  readMaxBytes,
  readOffset,
  type Waiting,
  waitOf,
  withIncarnation,
  withJson,
  withWait,
  withWriter,
} from "./verb-options.ts";

export function addPrograms(program: Command, words: Words, defaults: Defaults, done: Done): void {
  addRun(program, words, defaults, done);
  addRead(program, defaults, done);
  addWrite(program, defaults, done);
  addWait(program, defaults, done);
  addAsk(program, defaults, done);
  addLooking(program, defaults, done);
  addSignal(program, defaults, done);
}

// ---- read, write, wait -------------------------------------------------------------------------------------------

type ReadFlags = TargetFlags &
  Waiting & {
    incarnation?: string;
    from?: number;
    tail?: number;
    to?: number;
    maxBytes?: number;
    stream?: "all" | "stdout" | "stderr";
    format?: "text" | "base64" | "plain";
    follow?: boolean;
    times?: boolean;
    json?: boolean;
  };

function addRead(program: Command, defaults: Defaults, done: Done): void {
  const command = addSessionTarget(program.command("read [url]"))
    .description("print the output of a running or ended session")
    .option("--from <offset>", "start at this byte", readOffset)
    .option("--tail <bytes>", "only the last bytes", readOffset)
    .option("--to <offset>", "stop at this byte", readOffset)
    .option("--max-bytes <n>", "at most this many bytes (default: 65536)", readMaxBytes)
    .addOption(new Option("--stream <which>", "which stream").choices(["all", "stdout", "stderr"]))
    .addOption(
      new Option("--format <how>", "output format; plain strips escape sequences (default: raw bytes)").choices([
        "text",
        "base64",
        "plain",
      ]),
    )
    .option("-f, --follow", "follow the output until the process ends")
    .option("--times", "include arrival times in --json");
  withJson(withIncarnation(withWait(command, "how long to wait for new output"))).action(
    (url: string | undefined, flags: ReadFlags) => {
      const { incarnation, from, tail, to, maxBytes, stream, format } = flags;
      if (from !== undefined && tail !== undefined) throw usage("use --from or --tail, not both");
      const times = flags.times === true ? 1 : undefined;
      const fields = { incarnation, from, tail, to, maxBytes, stream, format, times, ...waitOf(flags) };
      done({
        kind: "read",
        ...sessionTargetOf(url, flags, defaults),
        query: defined(fields),
        follows: flags.follow === true,
        isJson: flags.json === true,
      });
    },
  );
}

type WriteFlags = TargetFlags &
  Waiting & {
    incarnation?: string;
    text?: string;
    keys?: string[];
    paste?: string;
    base64?: string;
    enter?: boolean;
    eof?: boolean;
    writer?: string;
    at?: number;
    json?: boolean;
  };

function addWrite(program: Command, defaults: Defaults, done: Done): void {
  const command = addSessionTarget(program.command("write [url]"))
    .description("type into a session: text or keys from options, else standard input")
    .option("--text <text>", "text to type")
    .option(
      "--keys <name>",
      "key by name, such as C-c, Enter, Up, F5 (repeatable; separated by commas or spaces)",
      collectKeys,
    )
    .option("--paste <text>", "text to paste")
    .option("--base64 <text>", "bytes to type")
    .option("--enter", "press Enter afterwards")
    .option("--eof", "end the input afterwards")
    .option("--at <offset>", "offset in the writer's input; makes the call safe to repeat", readOffset);
  withJson(
    withWriter(withIncarnation(withWait(command, "how long to wait until the process has read it (default: 10s)"))),
  ).action((url: string | undefined, flags: WriteFlags) => {
    const { incarnation, text, keys, paste, base64, enter, eof, writer, at } = flags;
    if ([text, keys, paste, base64].filter((one) => one !== undefined).length > 1) {
      throw usage("use only one of --text, --keys, --paste and --base64");
    }
    const fields = { incarnation, text, keys, paste, base64, enter, eof, writer, at, ...waitOf(flags) };
    done({
      kind: "write",
      ...sessionTargetOf(url, flags, defaults),
      request: defined(fields),
      isJson: flags.json === true,
    });
  });
}

type WaitFlags = TargetFlags & {
  incarnation?: string;
  exit?: boolean;
  match?: string;
  flags?: string;
  text?: string;
  idle?: number;
  idleMs?: number;
  commandEnd?: boolean;
  screen?: string;
  keyboard?: boolean;
  ask?: string;
  from?: number;
  timeout?: number;
  timeoutMs?: number;
  maxBytes?: number;
  json?: boolean;
};

function addWait(program: Command, defaults: Defaults, done: Done): void {
  const readTimeout = readDuration(MAX_TIMEOUT_MS);
  const command = addSessionTarget(program.command("wait [url]"))
    .description(
      "wait for a condition in a session; exit code 0: met, 124: timed out, 3: the process ended first, 4: the process was lost",
    )
    .option("--exit", "until the process ends")
    .option("--match <regex>", "until the output matches (RE2 syntax)")
    .option("--flags <ims>", "flags of --match or --screen")
    .option("--text <text>", "until the output contains this")
    .option("--idle <duration>", "until there is no output for this long (weak evidence)", readTimeout)
    .addOption(new Option("--idle-ms <ms>", "the same in milliseconds").argParser(readWhole(0, MAX_TIMEOUT_MS)))
    .option("--command-end", "until the shell reports the end of a command")
    .option("--screen <regex>", "until the screen matches")
    .option("--keyboard", "until the keyboard is free, or yours")
    .option("--ask <id>", "until a person has answered this ask")
    .option("--from <offset>", "search from this byte, such as a write's outputOffset", readOffset)
    .option("--timeout <duration>", "how long to wait (default: 30s)", readTimeout)
    .addOption(new Option("--timeout-ms <ms>", "the same in milliseconds").argParser(readWhole(0, MAX_TIMEOUT_MS)))
    .option("--max-bytes <n>", "at most this much output in the answer (default: 8192)", readMaxBytes);
  withJson(withIncarnation(command)).action((url: string | undefined, flags: WaitFlags) => {
    const { incarnation, from, timeout, timeoutMs = timeout, maxBytes } = flags;
    done({
      kind: "wait",
      ...sessionTargetOf(url, flags, defaults),
      until: untilOf(flags),
      more: defined({ incarnation, from, timeoutMs, maxBytes }),
      isJson: flags.json === true,
    });
  });
}

function untilOf({
  exit,
  match,
  flags,
  text,
  idle,
  idleMs = idle,
  commandEnd,
  screen,
  keyboard,
  ask,
}: WaitFlags): Until {
  const flagged = defined({ flags });
  const conditions: (Until | undefined)[] = [
    exit === true ? { exit } : undefined,
    match === undefined ? undefined : { match, ...flagged },
    text === undefined ? undefined : { text },
    idleMs === undefined ? undefined : { idleMs },
    commandEnd === true ? { commandEnd } : undefined,
    screen === undefined ? undefined : { screen, ...flagged },
    keyboard === true ? { keyboard } : undefined,
    ask === undefined ? undefined : { ask },
  ];
  const given = conditions.filter((condition) => condition !== undefined);
  const [until] = given;
  if (until !== undefined && given.length === 1) return until;
  throw usage("use exactly one of --exit, --match, --text, --idle, --command-end, --screen, --keyboard and --ask");
}

type AskFlags = TargetFlags & { reason: string; secret?: true; writer?: string; incarnation?: string; json?: true };

function addAsk(program: Command, defaults: Defaults, done: Done): void {
  const command = addSessionTarget(program.command("ask [url]"))
    .description("ask a person to take the keyboard; prints the id for wait --ask")
    .requiredOption("--reason <text>", "what the person is to do, in a line")
    .option("--secret", "the person types a secret: only its length is recorded");
  withJson(withWriter(withIncarnation(command))).action((url: string | undefined, flags: AskFlags) => {
    const { reason, secret, writer, incarnation, json: isJson = false } = flags;
    const request = defined({ reason, secret, writer, incarnation });
    done({ kind: "ask", ...sessionTargetOf(url, flags, defaults), request, isJson });
  });
}

// ---- screen, commands, signal ------------------------------------------------------------------------------------

type ScreenFlags = TargetFlags & {
  incarnation?: string;
  format?: "text" | "ansi" | "json";
  scrollback?: number;
  json?: boolean;
};

function addLooking(program: Command, defaults: Defaults, done: Done): void {
  const screen = addSessionTarget(program.command("screen [url]"))
    .description("print the screen of a session's terminal")
    .addOption(
      new Option("--format <how>", "output format; ansi redraws the screen, json includes styles").choices([
        "text",
        "ansi",
        "json",
      ]),
    )
    .option("--scrollback <rows>", "include this many rows of scrollback", readWhole(0, 100_000));
  withJson(withIncarnation(screen)).action((url: string | undefined, flags: ScreenFlags) => {
    const { incarnation, format, scrollback } = flags;
    const query = defined({ incarnation, format, scrollback });
    done({ kind: "screen", ...sessionTargetOf(url, flags, defaults), query, isJson: flags.json === true });
  });
  const commands = addSessionTarget(program.command("commands [url]")).description(
    "list the commands that a session's shell has run, newest last",
  );
  withJson(withIncarnation(commands)).action(
    (url: string | undefined, flags: TargetFlags & { incarnation?: string; json?: boolean }) => {
      const target = sessionTargetOf(url, flags, defaults);
      done({ kind: "commands", ...target, incarnation: flags.incarnation, isJson: flags.json === true });
    },
  );
}

type SignalFlags = TargetFlags & { signal?: string; writer?: string; incarnation?: string; json?: boolean };

function addSignal(program: Command, defaults: Defaults, done: Done): void {
  const command = addSessionTarget(program.command("signal [words...]"))
    .usage("[URL | NAME] [options] [SIGNAL]")
    .description("send a signal to the foreground processes of a session")
    .option("--signal <name>", "SIGINT, SIGTERM, … (default: SIGINT)");
  withJson(withWriter(withIncarnation(command))).action((words: readonly string[], flags: SignalFlags) => {
    const [target, names] = splitTarget(words);
    const given = [...names, flags.signal].filter((name) => name !== undefined);
    if (given.length > 1) throw usage("use only one signal");
    const { writer, incarnation } = flags;
    done({
      kind: "signal",
      ...sessionTargetOf(target, flags, defaults),
      signal: signalName(given[0] ?? "SIGINT"),
      writer,
      incarnation,
      isJson: flags.json === true,
    });
  });
}

/** Splits off the leading address or session name; if no word is either, the context has the session. */
function splitTarget(words: readonly string[]): [target: string | undefined, signals: readonly string[]] {
  const [first, ...rest] = words;
  const isPlace = isAddress(first) || rest.length > 0 || (first !== undefined && !isSignal(first));
  return isPlace ? [first, rest] : [undefined, words];
}

const isSignal = (word: string) => signalName(word) in os.constants.signals;

/** Accepts `INT` for `SIGINT`. */
function signalName(name: string): string {
  const upper = name.toUpperCase();
  return upper.startsWith("SIG") ? upper : `SIG${upper}`;
}
