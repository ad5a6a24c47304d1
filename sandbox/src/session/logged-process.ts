// Starts a process whose output goes into an output log, on a PTY with a screen and the marks of its shell.

import {
  commandWords,
  DEFAULT_COLS,
  DEFAULT_ROWS,
  defined,
  type ExitStatus,
  MAX_FRAME_BYTES,
  OutputLog,
  type ProcessFacts,
} from "sandbox-stdio/core";
import { type StartOrder, TimeIndex } from "sandbox-stdio/programs";
import { type SessionMarkEvents, SessionMarks } from "../marks/session-marks.ts";
import { type ChildProcess, type OutputSink, type StartFault, startProcess } from "../process/process.ts";
import { connectTcp } from "../process/tcp.ts";
import { SessionScreen } from "../screen/session-screen.ts";
import { scripts, withMarks } from "../shell/integration.ts";
import type { OutputNotes } from "./output-notes.ts";
import type { Surroundings } from "./surroundings.ts";

/** The first read of an idle process asks for little. */
const SMALL_READ_BYTES = 4_096;
/** Where the first output of all processes is read: it is copied into a log that grows with it, so that an idle session's stays small. */
const FIRST_ROOM = new Uint8Array(SMALL_READ_BYTES);

export type LoggedProcess = {
  /** ISO 8601. */
  readonly createdAt: string;
  readonly cmd: readonly string[];
  readonly child: ChildProcess;
  readonly log: OutputLog;
  /** Absent on pipes, as are the marks. */
  readonly screen: SessionScreen | undefined;
  readonly marks: SessionMarks | undefined;
  /** When output came, by this machine's clock. */
  readonly times: TimeIndex;
};

export interface ProcessEvents {
  /** The marks in the output itself. */
  readonly notes: SessionMarkEvents & Pick<OutputNotes, "sized">;
  /** More output is in the log: called for each piece, before {@link appended} for all that was read at once. */
  committed(): void;
  appended(): void;
  /** The process takes input again. */
  writable(): void;
  /** It puts out nothing more, and may still take input. */
  outputEnded(): void;
  ended(status: ExitStatus): void;
}

/**
 * @param told Who is told; asked at each event, none of which comes before this returns.
 * @returns Why the process can't be started: nothing has run then.
 */
export function startLogged(
  { process: wish, size = { cols: DEFAULT_COLS, rows: DEFAULT_ROWS } }: Pick<StartOrder, "process" | "size">,
  surroundings: Surroundings,
  told: () => ProcessEvents | undefined,
): LoggedProcess | StartFault {
  const [cmd = "bash", ...args] = commandWords(wish) ?? [];
  const log = new OutputLog(surroundings.paneSize ?? size, wish.logBytes);
  const times = new TimeIndex();
  const screen = wish.tty ? new SessionScreen(log) : undefined;
  const marks = wish.tty
    ? new SessionMarks(
        {
          commandEnded: (end) => told()?.notes.commandEnded(end),
          attention: (attention) => told()?.notes.attention(attention),
          titled: (title) => told()?.notes.titled(title),
        },
        () => performance.now(),
      )
    : undefined;
  let reserved: Uint8Array = new Uint8Array(0);
  let readBytes = SMALL_READ_BYTES;
  /** Output that nobody has looked at since: a small log can't wait for a frame of it. */
  let unseenBytes = 0;
  const flush = () => {
    unseenBytes = 0;
    told()?.appended();
  };
  const isMarking = wish.tty && wish.pane === undefined && wish.shellIntegration !== false;
  const directory = isMarking ? scripts() : undefined;
  const marking = directory === undefined ? undefined : withMarks(cmd, args, surroundings.env, directory);
  const sink: OutputSink = {
    reserve: () => {
      const isFirst = readBytes === SMALL_READ_BYTES && log.endOffset < SMALL_READ_BYTES;
      reserved = isFirst ? FIRST_ROOM : log.reserve(readBytes);
      return reserved;
    },
    commit: (length, stream) => {
      if (log.endOffset === 0) surroundings.panes?.begun();
      times.note(log.endOffset, Date.now());
      marks?.scan(reserved.subarray(0, length), log.endOffset);
      readBytes = length >= SMALL_READ_BYTES / 2 ? log.frameBytes : SMALL_READ_BYTES;
      if (reserved === FIRST_ROOM) log.append(reserved.subarray(0, length), stream);
      else log.commit(length, stream);
      told()?.committed();
      unseenBytes += length;
      if (unseenBytes >= log.frameBytes && log.frameBytes < MAX_FRAME_BYTES) flush();
    },
    flush,
  };
  const events = {
    onWritable: () => told()?.writable(),
    onOutputEnd: () => told()?.outputEnded(),
    onExit: (status: ExitStatus) => told()?.ended(status),
    onResized: (cols: number, rows: number) => told()?.notes.sized(cols, rows),
  };
  const words = [cmd, ...(marking?.args ?? args)];
  const command = surroundings.panes?.command(words, size) ?? { cmd, args: words.slice(1) };
  if ("fault" in command) {
    screen?.close();
    return command;
  }
  const spec = {
    ...command,
    env: { ...(marking?.env ?? surroundings.env) },
    cwd: wish.cwd ?? surroundings.home,
    tty: wish.tty,
    ...size,
    lingerMs: wish.linger === undefined ? undefined : wish.linger * 1000,
    ...defined({ user: surroundings.user }),
  };
  const child = start();
  function start(): ChildProcess | StartFault {
    if (surroundings.openPane !== undefined) return surroundings.openPane(sink, events);
    return wish.tcp === undefined ? startProcess(spec, sink, events) : connectTcp(wish.tcp, sink, events);
  }
  if ("fault" in child) {
    screen?.close();
    return child;
  }
  const createdAt = new Date().toISOString();
  return { cmd: [cmd, ...args], createdAt, child, log, screen, marks, times };
}

export function factsOf({ cmd, createdAt, times: { lastMs } }: LoggedProcess): ProcessFacts {
  return { cmd, createdAt, ...defined({ lastOutputMs: lastMs }) };
}
