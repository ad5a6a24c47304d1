// The parts of one session, and which of them knows which. They ask the session itself, by its ports, if the answer differs
// between the hops.

import type { InputQueue } from "../input/input-queue.ts";
import type { Ending } from "../output/output-reader.ts";
import { SnapshotRequests } from "../output/snapshot-requests.ts";
import { MAX_CLIENTS } from "../wire/constants.ts";
import type { PanesMessage } from "../wire/pane-messages.ts";
import { AnswererChoice } from "./answerer-choice.ts";
import type { AttachContext } from "./attach-rules.ts";
import { Attendance } from "./attendance.ts";
import { ClientCommands } from "./client-commands.ts";
import type { ClientRecord, TerminalSize } from "./client-record.ts";
import { Clients } from "./clients.ts";
import { Greeter } from "./greeter.ts";
import { InputReceiver } from "./input-receiver.ts";
import { Keyboard } from "./keyboard.ts";
import { OutputSender } from "./output-sender.ts";
import { Pace } from "./pace.ts";
import type { HopRules, SessionOptions } from "./session-types.ts";

/** The calls of the parts to their session. None of it is called before the session is made. */
export interface SessionPorts {
  /** How the process ended; undefined while it has not. */
  ending(): Ending | undefined;
  /** As far as there has been output, whether or not it has come here. */
  knownEnd(): number;
  /** The input of a client that is new here. */
  newInput(): InputQueue;
  /** A client's window has another size. */
  resizeWindow(client: ClientRecord, size: TerminalSize): void;
  /** A client has come or gone. */
  membersChanged(): void;
  /** Another client holds the keyboard, or it is free. */
  keyboardMoved(): void;
  /** More of a program's input may have been taken, or stored. */
  inputSettled(client: ClientRecord): void;
  /** Whether the client's greeting must wait until the process is held for it. */
  needsHold(client: ClientRecord): boolean;
  /** @see SessionCore.panes */
  panes(): PanesMessage | undefined;
  /** @see SessionCore.secondsLeft */
  secondsLeft(): number | undefined;
}

export type SessionParts = ReturnType<typeof makeParts>;

export function makeParts(options: SessionOptions, rules: HopRules, ports: SessionPorts) {
  const { facts, log, upstream, now, recorder, creator = "" } = options;
  const { maxClients = MAX_CLIENTS, keptPlaces = 0 } = options;
  const clients = new Clients();
  // A session that had a first client has had its first holder: a keyboard that is free now waits to be asked for.
  const keyboard = new Keyboard(facts.mode, options.holder, options.hasBeenHeld ?? creator !== "");
  const hasExited = () => ports.ending() !== undefined;
  const refuse = (client: ClientRecord, code: number, reason: string) => attendance.refuse(client, code, reason);
  const pace = new Pace(log, keyboard, clients, { delivery: facts.delivery, now, isAwaited: options.isAwaited });
  const snapshots = new SnapshotRequests(log, options.screen, now, rules.holdsProcess, options.lastScreen);
  const answererChoice = new AnswererChoice({
    clients,
    keyboard,
    now,
    end: () => ports.knownEnd(),
    decided: (answerer) => upstream.answerer(answerer),
  });
  const outputSender = new OutputSender({
    log,
    clients,
    snapshots,
    upstream,
    now,
    reuseFrames: options.reuseFrames,
    plainBytesPerSecond: options.plainBytesPerSecond,
    observer: options.observer,
    ending: (client) => {
      // Its acknowledgements come before the exit, and those wait for the record (I10).
      const isAwaited = client?.acknowledges === true && recorder?.isBehind(client.id) === true;
      return isAwaited ? undefined : ports.ending();
    },
    isPaced: () => pace.isPaced,
    vanish: (client, isSure = false) => attendance.vanish(client, isSure),
    refuse,
  });
  const inputReceiver = new InputReceiver({
    repeatsEof: rules.repeatsEof,
    tty: facts.tty,
    keyboard,
    clients,
    upstream,
    now,
    recorder,
    hasExited,
    mayReport: (client, bytes) => answererChoice.mayReport(client, bytes),
    creator: () => attendance.creator,
    follow: (client, message) => commands.follow(client, message),
    settled: (client) => ports.inputSettled(client),
    fed: (client) => attendance.fed(client),
    refuse,
  });
  const commands: ClientCommands = new ClientCommands({
    clients,
    keyboard,
    inputReceiver,
    outputSender,
    recorder,
    upstream,
    creator: () => attendance.creator,
    resize: (client, size) => ports.resizeWindow(client, size),
    keyboardMoved: () => {
      answererChoice.choose();
      ports.keyboardMoved();
    },
  });
  const attendance: Attendance = new Attendance({
    clients,
    keyboard,
    pace,
    answererChoice,
    upstream,
    now,
    inputWindow: facts.inputWindow,
    creator,
    hasExited,
    newInput: () => ports.newInput(),
    keyboardFreed: () => commands.announceHolder(),
    changed: () => ports.membersChanged(),
  });
  /** The parts that a client attaches to, as they are now. */
  const context = (): AttachContext => ({
    ...{ facts, log, clients, keyboard, maxClients, keptPlaces },
    answerer: answererChoice.current,
    creator: attendance.creator,
    hasExited: hasExited(),
    knownEnd: ports.knownEnd(),
  });
  const greeter = new Greeter({
    attendance,
    answererChoice,
    inputReceiver,
    outputSender,
    snapshots,
    recorder,
    now,
    context,
    needsHold: (client) => ports.needsHold(client),
    secondsLeft: () => ports.secondsLeft(),
    panes: () => ports.panes(),
  });
  return {
    ...{ clients, keyboard, pace, snapshots, answererChoice, outputSender, inputReceiver },
    ...{ commands, attendance, greeter, context },
  };
}
