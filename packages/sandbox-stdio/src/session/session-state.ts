// The state of one session, the same on both hops. The functions of this folder read and change it; `SessionCore` calls them for
// everyone outside.

import type { InputQueue } from "../input/input-queue.ts";
import type { OutputLog } from "../output/output-log.ts";
import { type Ending, FrameSource, type OutputReader } from "../output/output-reader.ts";
import { SnapshotRequests } from "../output/snapshot-requests.ts";
import type { OutputObserver } from "../output/window.ts";
import type { Answerer } from "../terminal/answerer-history.ts";
import { MAX_CLIENTS } from "../wire/constants.ts";
import type { Recording } from "../wire/control.ts";
import type { PanesMessage } from "../wire/pane-messages.ts";
import type { ClientRecord, TerminalSize } from "./client-record.ts";
import { Clients } from "./clients.ts";
import type { InputRecorder } from "./input-recorder.ts";
import { Keyboard } from "./keyboard.ts";
import { Pace } from "./pace.ts";
import type { Ask, AskEvent, SessionFacts, SessionOptions, Upstream } from "./session-types.ts";

/** What differs between the hops: `ProcessSession` and `RelaySession`. */
export interface Hop {
  /** Whether the process is held while a snapshot is made. */
  readonly holdsProcess: boolean;
  /** Whether a repeated end of input is passed on: the bridge may have refused the first. */
  readonly repeatsEof: boolean;
  /** The end of the output, including output that has not arrived here. */
  readonly knownEnd: number;
  /** Makes the input queue of a new client. */
  newInput(): InputQueue;
  /** A client resized its window. */
  resizeWindow(client: ClientRecord, size: TerminalSize): void;
  /** A client came or went. */
  membersChanged(): void;
  /** Another client holds the keyboard, or it is free. All clients have been told. */
  keyboardMoved(): void;
  /** A program's ask has changed, through this client; "": through none. */
  asked(ask: Ask, event: AskEvent, client: string): void;
  /** More of a program's input may have been taken, or stored. */
  inputSettled(client: ClientRecord): void;
  /** Whether the client's greeting must wait until the process is held for it. */
  needsHold(client: ClientRecord): boolean;
}

/** Which party answers terminal queries: see `answerer.ts`. */
export type AnswererState = {
  current: Answerer;
  /** At the bridge: the answerer that the session object named, which may be none of its clients. */
  named: Answerer | undefined;
  /** The previous answerer, whose late reports are still accepted. */
  former: { readonly id: string; readonly untilMs: number } | undefined;
  /** The bridge has answered queries that end before this offset. */
  answeredTo: number;
  hasChosen: boolean;
  /** The bridge was told that it answers, and has not confirmed it. Until then it announces nothing of what it will answer. */
  isUnconfirmed: boolean;
};

export type SessionState = {
  readonly facts: SessionFacts;
  readonly log: OutputLog;
  readonly upstream: Upstream;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  readonly recorder: InputRecorder | undefined;
  readonly observer: OutputObserver | undefined;
  readonly plainBytesPerSecond: number | undefined;
  readonly maxClients: number;
  readonly keptPlaces: number;
  readonly hop: Hop;
  readonly clients: Clients;
  readonly keyboard: Keyboard;
  readonly pace: Pace;
  readonly snapshots: SnapshotRequests;
  readonly frames: FrameSource;
  /** Readers that are not clients: inner hops. */
  readonly links: Set<OutputReader>;
  /** Output behind this offset is sent in a moment, together with more: an acknowledgement does not cut it in two. */
  announcedOffset: number;
  readonly answerer: AnswererState;
  /** The first driver that ever attached; "" before that. */
  creator: string;
  /** How the process ended; undefined while it runs. */
  ending: Ending | undefined;
  /** The process takes no more input. */
  isInputClosed: boolean;
  /** When the process is ended because its machine goes away. */
  stopsAtMs: number | undefined;
  panes: PanesMessage | undefined;
  /** Whether the terminal echoes, as told last. Absent: nothing is known. */
  echo: { readonly on: boolean; readonly offset: number } | undefined;
  /** The asks of programs for a person, oldest first. At the bridge there are none. */
  asks: readonly Ask[];
  /** Since when its output is recorded, and whether parts are hidden; undefined: it is not. */
  recording: Recording | undefined;
};

export function newState(options: SessionOptions, hop: Hop): SessionState {
  const { facts, log, upstream, now, recorder, observer, plainBytesPerSecond, creator = "", asks = [] } = options;
  const { maxClients = MAX_CLIENTS, keptPlaces = 0 } = options;
  const clients = new Clients();
  // A session that had a first client has had its first holder: a keyboard that is free now waits to be asked for.
  const keyboard = new Keyboard(facts.mode, options.holder, options.hasBeenHeld ?? creator !== "");
  const taker = takerOf(asks);
  if (taker === keyboard.holder) keyboard.setHolder(taker, true);
  return {
    ...{ facts, log, upstream, now, recorder, observer, plainBytesPerSecond, maxClients, keptPlaces },
    ...{ hop, clients, keyboard, creator },
    pace: new Pace(log, keyboard, clients, { delivery: facts.delivery, now, isAwaited: options.isAwaited }),
    snapshots: new SnapshotRequests(log, options.screen, now, hop.holdsProcess, options.lastScreen),
    frames: new FrameSource(log, options.reuseFrames),
    links: new Set(),
    announcedOffset: log.endOffset,
    answerer: {
      current: { id: "", offset: 0 },
      named: undefined,
      former: undefined,
      answeredTo: 0,
      hasChosen: false,
      isUnconfirmed: false,
    },
    ending: undefined,
    isInputClosed: false,
    stopsAtMs: undefined,
    panes: undefined,
    echo: undefined,
    // A taker that the bridge does not know of has not begun to type.
    asks: asks.map((ask) => (ask.takenBy === keyboard.holder ? ask : { ...ask, takenBy: undefined })),
    recording: undefined,
  };
}

/** The client that holds the keyboard for a program that has asked; undefined if none does. */
export function takerOf(asks: readonly Ask[]): string | undefined {
  return asks.find(({ answer, takenBy }) => answer === undefined && takenBy !== undefined)?.takenBy;
}

/** Seconds until the process is ended because its machine goes away; undefined if it is not. */
export function secondsLeft({ stopsAtMs, ending, now }: SessionState): number | undefined {
  if (stopsAtMs === undefined || ending !== undefined) return undefined;
  return Math.max(0, Math.ceil((stopsAtMs - now()) / 1000));
}
