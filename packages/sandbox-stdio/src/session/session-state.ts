// The state of one session, the same on both hops. Functions of this folder read and change it; outside code goes through
// `SessionCore`.

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
  readonly holdsForSnapshots: boolean;
  /** Whether a repeated end of input is passed on: the bridge may have refused the first. */
  readonly repeatsEof: boolean;
  /** End of the output, including output that has not arrived here. */
  readonly knownEnd: number;
  /** Makes the input queue of a new client. */
  newInput(): InputQueue;
  /** A client resized its window. */
  resizeWindow(client: ClientRecord, size: TerminalSize): void;
  /** A client came or went. */
  membersChanged(): void;
  /** The keyboard has a new holder or is free. All clients have been told. */
  keyboardMoved(): void;
  /** A program's ask has changed, through client `by`; "" if through no client. */
  asked(ask: Ask, event: AskEvent, client: string): void;
  /** More of a program's input may have been taken or stored. */
  inputSettled(client: ClientRecord): void;
  /** Whether the client's greeting must wait until the process is held. */
  greetsOnceHeld(client: ClientRecord): boolean;
}

/** Which party answers terminal queries: see `answerer.ts`. */
export type AnswererState = {
  current: Answerer;
  /** Bridge only: the answerer that the session object named, which may not be its client. */
  named: Answerer | undefined;
  /** The previous answerer, whose late reports are still accepted. */
  former: { readonly id: string; readonly untilMs: number } | undefined;
  /** The bridge has answered queries that end before this offset. */
  answeredTo: number;
  hasChosen: boolean;
  /** The bridge was told that it answers but has not confirmed. Until then it does not announce its answers. */
  isUnconfirmed: boolean;
};

export type SessionState = {
  readonly facts: SessionFacts;
  readonly log: OutputLog;
  readonly upstream: Upstream;
  /** Monotonic clock, in milliseconds. */
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
  /** Output after this offset is sent shortly, together with more, so that an acknowledgement does not split it. */
  announcedOffset: number;
  readonly answerer: AnswererState;
  /** The first driver that ever attached; "" if none has. */
  creator: string;
  /** How the process ended; undefined while it runs. */
  ending: Ending | undefined;
  /** The process takes no more input. */
  isInputClosed: boolean;
  /** When the process is killed because its machine goes away. */
  stopsAtMs: number | undefined;
  panes: PanesMessage | undefined;
  /** Whether the terminal echoes, as last reported. Absent: unknown. */
  echo: { readonly on: boolean; readonly offset: number } | undefined;
  /** Programs' asks for a person, oldest first. Always empty at the bridge. */
  asks: readonly Ask[];
  /** Since when the output is recorded, and whether it is redacted; undefined if it is not recorded. */
  recording: Recording | undefined;
};

export function newState(options: SessionOptions, hop: Hop): SessionState {
  const { facts, log, upstream, now, recorder, observer, plainBytesPerSecond, creator = "", asks = [] } = options;
  const { maxClients = MAX_CLIENTS, keptPlaces = 0 } = options;
  const clients = new Clients();
  // A session with a creator has had a holder, so a free keyboard must be requested.
  const keyboard = new Keyboard(facts.mode, options.holder, options.hasBeenHeld ?? creator !== "");
  const taker = takerOf(asks);
  if (taker === keyboard.holder) keyboard.setHolder(taker, true);
  return {
    ...{ facts, log, upstream, now, recorder, observer, plainBytesPerSecond, maxClients, keptPlaces },
    ...{ hop, clients, keyboard, creator },
    pace: new Pace(log, keyboard, clients, { delivery: facts.delivery, now, isAwaited: options.isAwaited }),
    snapshots: new SnapshotRequests(log, options.screen, now, hop.holdsForSnapshots, options.lastScreen),
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
    // A taker unknown to the bridge has not begun to type.
    asks: asks.map((ask) => (ask.takenBy === keyboard.holder ? ask : { ...ask, takenBy: undefined })),
    recording: undefined,
  };
}

/** The client that holds the keyboard for a program's ask; undefined if there is none. */
export function takerOf(asks: readonly Ask[]): string | undefined {
  return asks.find(({ answer, takenBy }) => answer === undefined && takenBy !== undefined)?.takenBy;
}

/** Seconds until the process is killed because its machine goes away; undefined if none is planned. */
export function secondsLeft({ stopsAtMs, ending, now }: SessionState): number | undefined {
  if (stopsAtMs === undefined || ending !== undefined) return undefined;
  return Math.max(0, Math.ceil((stopsAtMs - now()) / 1000));
}
