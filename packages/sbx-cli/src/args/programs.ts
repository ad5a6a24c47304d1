// The words of the verbs that work without a connection of their own, as the HTTP interface names their fields: run, read,
// write, wait, screen, commands, signal.

import os from "node:os";
import { type Command, Option } from "commander";
import type { Until } from "sandbox-stdio/client";
import { usage } from "../base/outcome.ts";
import type { Words } from "./attach.ts";
import type { Defaults } from "./cli-command.ts";
import { addSessionPlace, isAddress, type PlaceFlags, sessionPlaceOf } from "./place.ts";
import { collectKeys, readDuration, readWhole } from "./readers.ts";
import { addRun } from "./run.ts";
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
  addLooking(program, defaults, done);
  addSignal(program, defaults, done);
}

// ---- read, write, wait -------------------------------------------------------------------------------------------

type ReadFlags = PlaceFlags &
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
  const command = addSessionPlace(program.command("read [url]"))
    .description("print output of a session, before and after its end")
    .option("--from <offset>", "from this byte on", readOffset)
    .option("--tail <bytes>", "only so many last bytes", readOffset)
    .option("--to <offset>", "up to this byte", readOffset)
    .option("--max-bytes <n>", "how much at most (default: 65536)", readMaxBytes)
    .addOption(new Option("--stream <which>", "which output").choices(["all", "stdout", "stderr"]))
    .addOption(
      new Option("--format <how>", "plain is without escape sequences (default: the bytes)").choices([
        "text",
        "base64",
        "plain",
      ]),
    )
    .option("-f, --follow", "go on as output comes, until the process has ended")
    .option("--times", "in the answer of --json, when the bytes came");
  withJson(withIncarnation(withWait(command, "how long to wait for something new"))).action(
    (url: string | undefined, flags: ReadFlags) => {
      const { incarnation, from, tail, to, maxBytes, stream, format } = flags;
      if (from !== undefined && tail !== undefined) throw usage("give --from or --tail, not both");
      const times = flags.times === true ? 1 : undefined;
      const fields = { incarnation, from, tail, to, maxBytes, stream, format, times, ...waitOf(flags) };
      done({
        kind: "read",
        ...sessionPlaceOf(url, flags, defaults),
        query: Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)),
        follows: flags.follow === true,
        isJson: flags.json === true,
      });
    },
  );
}

type WriteFlags = PlaceFlags &
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
  const command = addSessionPlace(program.command("write [url]"))
    .description("type into a session: what is given, else standard input to its end")
    .option("--text <text>", "these characters")
    .option(
      "--keys <name>",
      "a key by its name (C-c, Enter, Up, F5), repeatable; a comma or a space between several",
      collectKeys,
    )
    .option("--paste <text>", "as pasted text")
    .option("--base64 <text>", "these bytes")
    .option("--enter", "then Enter")
    .option("--eof", "then the end of input")
    .option("--at <offset>", "where this begins in the writer's input: makes the call repeatable", readOffset);
  withJson(
    withWriter(withIncarnation(withWait(command, "how long the process may take to read it (default: 10s)"))),
  ).action((url: string | undefined, flags: WriteFlags) => {
    const { incarnation, text, keys, paste, base64, enter, eof, writer, at } = flags;
    if ([text, keys, paste, base64].filter((one) => one !== undefined).length > 1) {
      throw usage("give one of --text, --keys, --paste and --base64");
    }
    const fields = { incarnation, text, keys, paste, base64, enter, eof, writer, at, ...waitOf(flags) };
    done({
      kind: "write",
      ...sessionPlaceOf(url, flags, defaults),
      request: Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)),
      isJson: flags.json === true,
    });
  });
}

type WaitFlags = PlaceFlags & {
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
  from?: number;
  timeout?: number;
  timeoutMs?: number;
  maxBytes?: number;
  json?: boolean;
};

function addWait(program: Command, defaults: Defaults, done: Done): void {
  const readTimeout = readDuration(MAX_TIMEOUT_MS);
  const command = addSessionPlace(program.command("wait [url]"))
    .description(
      "wait for something in a session: 0 it came, 124 it did not in time, 3 the process ended first, 4 it was lost",
    )
    .option("--exit", "until the process has ended")
    .option("--match <regex>", "until the output matches (RE2 syntax)")
    .option("--flags <ims>", "flags of --match or --screen")
    .option("--text <text>", "until the output holds this")
    .option("--idle <duration>", "until nothing came for so long: weak evidence", readTimeout)
    .addOption(new Option("--idle-ms <ms>", "the same in milliseconds").argParser(readWhole(0, MAX_TIMEOUT_MS)))
    .option("--command-end", "until the shell says that a command has ended")
    .option("--screen <regex>", "until the screen matches")
    .option("--keyboard", "until the keyboard is free, or yours")
    .option("--from <offset>", "look from this byte on: a write's outputOffset", readOffset)
    .option("--timeout <duration>", "how long at most (default: 30s)", readTimeout)
    .addOption(new Option("--timeout-ms <ms>", "the same in milliseconds").argParser(readWhole(0, MAX_TIMEOUT_MS)))
    .option("--max-bytes <n>", "how much of the output the answer holds (default: 8192)", readMaxBytes);
  withJson(withIncarnation(command)).action((url: string | undefined, flags: WaitFlags) => {
    const { incarnation, from, timeout, timeoutMs = timeout, maxBytes } = flags;
    done({
      kind: "wait",
      ...sessionPlaceOf(url, flags, defaults),
      until: untilOf(flags),
      more: {
        ...(incarnation === undefined ? {} : { incarnation }),
        ...(from === undefined ? {} : { from }),
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
        ...(maxBytes === undefined ? {} : { maxBytes }),
      },
      isJson: flags.json === true,
    });
  });
}

function untilOf({ exit, match, flags, text, idle, idleMs = idle, commandEnd, screen, keyboard }: WaitFlags): Until {
  const flagged = flags === undefined ? {} : { flags };
  const conditions: (Until | undefined)[] = [
    exit === true ? { exit } : undefined,
    match === undefined ? undefined : { match, ...flagged },
    text === undefined ? undefined : { text },
    idleMs === undefined ? undefined : { idleMs },
    commandEnd === true ? { commandEnd } : undefined,
    screen === undefined ? undefined : { screen, ...flagged },
    keyboard === true ? { keyboard } : undefined,
  ];
  const given = conditions.filter((condition) => condition !== undefined);
  const [until] = given;
  if (until !== undefined && given.length === 1) return until;
  throw usage("wait for one thing: --exit, --match, --text, --idle, --command-end, --screen or --keyboard");
}

// ---- screen, commands, signal ------------------------------------------------------------------------------------

type ScreenFlags = PlaceFlags & {
  incarnation?: string;
  format?: "text" | "ansi" | "json";
  scrollback?: number;
  json?: boolean;
};

function addLooking(program: Command, defaults: Defaults, done: Done): void {
  const screen = addSessionPlace(program.command("screen [url]"))
    .description("print what a session's terminal shows")
    .addOption(new Option("--format <how>", "ansi redraws it; json has styles").choices(["text", "ansi", "json"]))
    .option("--scrollback <rows>", "so many rows from above it, too", readWhole(0, 100_000));
  withJson(withIncarnation(screen)).action((url: string | undefined, flags: ScreenFlags) => {
    const { incarnation, format, scrollback } = flags;
    const query = {
      ...(incarnation === undefined ? {} : { incarnation }),
      ...(format === undefined ? {} : { format }),
      ...(scrollback === undefined ? {} : { scrollback }),
    };
    done({ kind: "screen", ...sessionPlaceOf(url, flags, defaults), query, isJson: flags.json === true });
  });
  const commands = addSessionPlace(program.command("commands [url]")).description(
    "list the commands that a session's shell has run, newest last",
  );
  withJson(withIncarnation(commands)).action(
    (url: string | undefined, flags: PlaceFlags & { incarnation?: string; json?: boolean }) => {
      const place = sessionPlaceOf(url, flags, defaults);
      done({ kind: "commands", ...place, incarnation: flags.incarnation, isJson: flags.json === true });
    },
  );
}

type SignalFlags = PlaceFlags & { signal?: string; writer?: string; incarnation?: string; json?: boolean };

function addSignal(program: Command, defaults: Defaults, done: Done): void {
  const command = addSessionPlace(program.command("signal [words...]"))
    .usage("[URL | NAME] [options] [SIGNAL]")
    .description("send a signal to the foreground processes of a session")
    .option("--signal <name>", "SIGINT, SIGTERM, … (default: SIGINT)");
  withJson(withWriter(withIncarnation(command))).action((words: readonly string[], flags: SignalFlags) => {
    const [place, names] = namedPlace(words);
    const given = [...names, ...(flags.signal === undefined ? [] : [flags.signal])];
    if (given.length > 1) throw usage("give one signal");
    const { writer, incarnation } = flags;
    done({
      kind: "signal",
      ...sessionPlaceOf(place, flags, defaults),
      signal: signalName(given[0] ?? "SIGINT"),
      writer,
      incarnation,
      isJson: flags.json === true,
    });
  });
}

/** The address or the session's name, which stands first; where no word is either, the place is the context's. */
function namedPlace(words: readonly string[]): [place: string | undefined, signals: readonly string[]] {
  const [first, ...rest] = words;
  const isPlace = isAddress(first) || rest.length > 0 || (first !== undefined && !isSignal(first));
  return isPlace ? [first, rest] : [undefined, words];
}

const isSignal = (word: string) => signalName(word) in os.constants.signals;

/** `INT` is `SIGINT`. */
function signalName(name: string): string {
  const upper = name.toUpperCase();
  return upper.startsWith("SIG") ? upper : `SIG${upper}`;
}
