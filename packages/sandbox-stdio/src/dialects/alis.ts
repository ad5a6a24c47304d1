// The stock asciinema-player as a viewer of a live session (G7): it only listens, has no resume, and comes back after every close
// but 1000 behind an EOT and 4000 to 4100. So each connection begins with the screen, and a final refusal has a code among those.

import {
  ALIS_MAGIC,
  ALIS_PROTOCOL,
  type AlisPlace,
  alisEnd,
  alisNumbers,
  alisReset,
  alisText,
  NEW_LINE_MODE,
} from "../recording/alis.ts";
import { commandMarks, type MarkState, NO_MARKS } from "../recording/command-marks.ts";
import type {
  AttachWish,
  Dialect,
  DialectRoute,
  Encoded,
  Frame,
  RouteRequest,
  SessionEvent,
} from "../server/dialect.ts";
import { encodeUtf8, splitUtf8 } from "../text/utf8-text.ts";
import { CLOSE, REPLACED_REASON, SESSION_GONE_REASON } from "../wire/constants.ts";
import { terminalQuery } from "./terminal-query.ts";

type AlisState = {
  /** Set from the greeting until the first reset is out. */
  readonly isResetDue: boolean;
  readonly isTerminal: boolean;
  readonly cols: number;
  readonly rows: number;
  /** The log's offset behind the last event, and the session's time then. */
  readonly offset: number;
  readonly timeMs: number;
  /** The start of a character whose rest has not come yet. */
  readonly tail: Uint8Array;
  readonly marks: MarkState;
};

/** At EOT the player drops what it has not shown yet: it shows output late, by the jitter of the connection. */
const EOT_DELAY_MS = 1_000;
const NO_BYTES = new Uint8Array(0);
const START: AlisState = {
  isResetDue: false,
  isTerminal: true,
  cols: 0,
  rows: 0,
  offset: 0,
  timeMs: 0,
  tail: NO_BYTES,
  marks: NO_MARKS,
};

// ---- Session to client -------------------------------------------------------------------------------------------

function encode(event: SessionEvent, state: AlisState, sessionMs = 0): Encoded<AlisState> {
  const saying = new Saying(state, sessionMs);
  switch (event.type) {
    case "hello":
      saying.greeted(event);
      break;
    case "greeted":
      saying.begin();
      break;
    case "output":
      if (event.isRedraw === true) saying.redraw(event.frame.subarray(1), event.end);
      else saying.output(event.frame.subarray(1), event.end);
      break;
    case "resize":
      saying.resize(event.cols, event.rows);
      break;
    case "gap":
      saying.gap(event.from, event.to);
      break;
    case "exit":
      saying.exit(event.code, event.offset);
      break;
    default:
  }
  return { frames: saying.frames, state: saying.state };
}

/** The frames for one event, and the state that they lead to. */
class Saying {
  readonly frames: Frame[] = [];
  state: AlisState;
  readonly #nowMs: number;

  constructor(state: AlisState, sessionMs: number) {
    this.state = state;
    this.#nowMs = Math.max(sessionMs, state.timeMs);
  }

  greeted({ cols, rows, offset, tty }: { cols: number; rows: number; offset: number; tty: boolean }): void {
    this.state = { ...this.state, cols, rows, offset, isTerminal: tty, isResetDue: true };
    this.frames.push(ALIS_MAGIC);
  }

  /** No snapshot has come with the greeting: what there is follows as output. */
  begin(): void {
    if (this.state.isResetDue) this.#reset(this.state.isTerminal ? NO_BYTES : NEW_LINE_MODE);
  }

  redraw(screen: Uint8Array, offset: number): void {
    this.state = { ...this.state, offset };
    this.#reset(screen);
  }

  output(bytes: Uint8Array, end: number): void {
    this.begin();
    let at = end - bytes.length;
    const { marks, state } = commandMarks(this.state.marks, bytes, at);
    this.state = { ...this.state, marks: state };
    for (const { offset, line } of [...marks, { offset: end, line: undefined }]) {
      const from = bytes.length - (end - at);
      this.#text(bytes.subarray(from, from + Math.max(0, offset - at)), offset);
      if (line !== undefined) this.#marker(line, offset);
      at = Math.max(at, offset);
    }
  }

  resize(cols: number, rows: number): void {
    this.state = { ...this.state, cols, rows };
    if (!this.state.isResetDue) this.frames.push(alisNumbers("r", this.#next(this.state.offset), cols, rows));
  }

  gap(from: number, to: number): void {
    this.#flush();
    this.state = { ...this.state, marks: NO_MARKS };
    if (this.state.isResetDue) this.state = { ...this.state, offset: to };
    else this.#marker(`gap ${from}-${to}`, to);
  }

  exit(code: number, offset: number): void {
    this.begin();
    this.#flush();
    this.frames.push(alisNumbers("x", this.#next(offset), code));
  }

  #reset(screen: Uint8Array): void {
    const { cols, rows, offset } = this.state;
    this.frames.push(alisReset({ lastId: offset, timeUs: this.#nowMs * 1000, cols, rows, screen }));
    this.state = { ...this.state, isResetDue: false, timeMs: this.#nowMs, tail: NO_BYTES, marks: NO_MARKS };
  }

  #text(bytes: Uint8Array, end: number): void {
    const { whole, tail } = splitUtf8(this.state.tail, bytes);
    this.state = { ...this.state, tail, offset: end };
    if (whole.length > 0) this.frames.push(alisText("o", this.#next(end), whole));
  }

  #marker(label: string, offset: number): void {
    this.frames.push(alisText("m", this.#next(offset), encodeUtf8(label)));
  }

  /** The bytes of a character that nothing completes any more. */
  #flush(): void {
    const { tail, offset } = this.state;
    if (tail.length > 0) this.frames.push(alisText("o", this.#next(offset), tail));
    this.state = { ...this.state, tail: NO_BYTES };
  }

  #next(id: number): AlisPlace {
    const afterUs = (this.#nowMs - this.state.timeMs) * 1000;
    this.state = { ...this.state, offset: id, timeMs: this.#nowMs };
    return { id, afterUs };
  }
}

// ---- Its place ---------------------------------------------------------------------------------------------------

/** Its player shows the reason of a final code, and tries again on 1011 to 1013. */
function closeCode(code: number, reason: string): number {
  if (reason === REPLACED_REASON) return 4009;
  if (reason === SESSION_GONE_REASON) return 4004;
  if (code === CLOSE.tooMany || code === CLOSE.unavailable) return CLOSE.tryLater;
  return code >= 4400 && code <= 4499 ? code - 400 : code;
}

export const ALIS: Dialect<AlisState> = {
  name: "alis",
  acknowledges: false,
  canResume: false,
  startsWithScreen: "always",
  tellsTimes: true,
  farewell: { frame: alisEnd(), afterMs: EOT_DELAY_MS },
  start: START,
  closeCode,
  encode,
  decode: () => ({ kind: "nothing" }), // It only listens.
};

function wish({ params, search }: RouteRequest): AttachWish {
  const own = { sandbox: params.sandbox ?? "", session: params.session ?? "", role: "viewer", wake: "0" };
  const incarnation = search.get("incarnation");
  return terminalQuery(incarnation === null ? own : { ...own, incarnation }, search);
}

export const ALIS_ROUTES: readonly DialectRoute[] = [
  {
    path: "/watch/:sandbox/:session",
    dialect: ALIS,
    subprotocol: { name: ALIS_PROTOCOL, isRequired: true },
    refusal: "close",
    wish,
  },
];
