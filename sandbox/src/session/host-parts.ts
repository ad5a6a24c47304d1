// The parts of one session's host in the bridge, wired to each other: what the session has the process do, and who answers queries.
// host.ts tells them what happens.

import {
  MAX_KEPT_INPUT_BYTES,
  ProcessSession,
  type ProcessWish,
  tracedUpstream,
  type Upstream,
} from "sandbox-stdio/core";
import { NO_PANES } from "../panes/session-panes.ts";
import { Answers } from "./answers.ts";
import { Attached } from "./attached.ts";
import { Bell } from "./bell.ts";
import type { HostNames, Unattended } from "./host-start.ts";
import { InputWriter } from "./input-writer.ts";
import { Lifespan } from "./lifespan.ts";
import type { LoggedProcess } from "./logged-process.ts";
import { OutputNotes } from "./output-notes.ts";
import { ProcessControl } from "./process-control.ts";
import type { Surroundings } from "./surroundings.ts";

export type HostParts = {
  readonly session: ProcessSession;
  readonly control: ProcessControl;
  readonly writer: InputWriter;
  /** Absent on pipes. */
  readonly answers: Answers | undefined;
  readonly lifespan: Lifespan;
  readonly attached: Attached;
  readonly bell: Bell;
  readonly notes: OutputNotes;
};

export type HostStart = {
  readonly names: HostNames;
  readonly wish: ProcessWish;
  readonly process: LoggedProcess;
  readonly surroundings: Partial<Surroundings>;
  /** Absent: a client attaches at once. */
  readonly unattended: Unattended | undefined;
};

/** @param changed Is told of what may have changed who is there, what is acknowledged or what is due; never before this returns. */
export function makeHostParts(
  { names, wish, process, surroundings, unattended }: HostStart,
  changed: () => void,
): HostParts {
  const { child, log, screen } = process;
  const { trace, unattendedBytesPerSecond } = surroundings;
  const session = new ProcessSession({
    facts: {
      sandbox: names.label,
      session: names.session,
      incarnation: crypto.randomUUID(),
      tty: wish.tty,
      mode: wish.mode,
      delivery: wish.delivery,
      tellsSize: wish.pane !== undefined,
      inputWindow: MAX_KEPT_INPUT_BYTES,
      logBytes: wish.logBytes,
    },
    log,
    now: () => performance.now(),
    reuseFrames: true, // Bun's send copies before it returns.
    unattendedBytesPerSecond,
    isAwaited: unattended?.isAwaited ?? true,
    screen: screen && { request: () => void drawScreen(screen) },
    upstream: tracedUpstream(
      upstreamOf(() => parts, process, surroundings, changed),
      trace,
    ),
  });
  const drawScreen = async (drawn: NonNullable<LoggedProcess["screen"]>): Promise<void> => {
    session.snapshotReady(await drawn.snapshot());
    changed();
  };
  const attached = new Attached();
  const bell = new Bell(surroundings.bell, session.facts.incarnation);
  const writer = new InputWriter(child, session);
  const parts: HostParts = {
    session,
    control: new ProcessControl(process),
    writer,
    answers: answersOf(process, attached, writer),
    lifespan: new Lifespan(wish.keep * 1000, unattended?.keepExitedMs ?? 0, performance.now()),
    attached,
    bell,
    notes: new OutputNotes(session, () => attached.inner, bell),
  };
  return parts;
}

/** What the session has the process do. */
function upstreamOf(
  parts: () => HostParts,
  { child }: LoggedProcess,
  { panes }: Partial<Surroundings>,
  changed: () => void,
): Upstream {
  return {
    attached: changed,
    input: (client) => parts().writer.push(client),
    signal: (_client, signal) => child.signal(signal),
    resize: (_client, { cols, rows }) => {
      if (!parts().lifespan.hasExited) child.resize(cols, rows);
    },
    kill: () => void parts().control.kill(),
    pane: (client, order) => (panes === undefined ? client.tell(NO_PANES) : panes.order(client, order)),
    acked: (client) => {
      const { control, session } = parts();
      // Many may acknowledge at once, and mostly only one of them can set the process going.
      if (control.isHeld && session.setsGoing(client)) changed();
    },
    departed: (client) => {
      panes?.departed(client);
      changed();
    },
    holder: () => undefined,
    answerer: (answerer) => {
      parts().answers?.answererIs(answerer);
      return false;
    },
  };
}

/** The bridge's own answers to a terminal's queries; undefined on pipes. */
function answersOf({ log, screen }: LoggedProcess, attached: Attached, writer: InputWriter): Answers | undefined {
  if (screen === undefined) return undefined;
  const answers = new Answers({
    log,
    screen,
    announce: (offset) => attached.inner?.answered(offset),
    write: (answer) => writer.pushOwn(answer),
  });
  screen.onParsed = (given, offset) => answers.parsed(given, offset);
  return answers;
}
