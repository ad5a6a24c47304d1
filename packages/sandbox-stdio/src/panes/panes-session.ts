// Decides which commands a session with panes sends to tmux's control mode, and delivers each pane's output. The control client
// may be lost at any byte and replaced: everything is recovered from tmux. Executes nothing itself: see PanesPorts.

import { decodeUtf8 } from "../text/utf8-text.ts";
import {
  type CommandLine,
  capture,
  commandOf,
  continuePane,
  LIST_PANES,
  type PaneAction,
  pausePane,
  WATCH_NAMES,
} from "./commands.ts";
import { ControlMode } from "./control-mode.ts";
import type { Notification } from "./notifications.ts";
import { PaneInput } from "./pane-input.ts";
import { findPane, NO_PANES, type Pane, type PaneList, readPaneList, withLayout } from "./pane-list.ts";
import { PendingCommands } from "./pending-commands.ts";
import { redraw } from "./redraw.ts";

export interface PanesPorts {
  /** Writes to the control client's input. The largest command has about 2 KB. */
  send(text: string): void;
  /** Panes, their positions or names have changed. */
  changed(list: PaneList): void;
  /** Output of a pane. The bytes are valid until this returns. `isRedraw`: they redraw output that was not delivered. */
  output(pane: string, bytes: Uint8Array, isRedraw: boolean): void;
  /** `bytes` more of a pane's input have been taken, so there is room for more. */
  taken(pane: string, bytes: number): void;
  /** A pane is gone, and all its output has been delivered. */
  closed(pane: string): void;
  /** This control client is useless: make another one and call {@link PanesSession.opened}. */
  lost(why: string): void;
}

/** Result of an action: `error` is tmux's message, or `unknown` if the control client was lost meanwhile. */
export type ActionResult = { readonly ok: true } | { readonly ok: false; readonly error: string };

/** Most output kept of a pane before it is listed; beyond it, tmux is asked for its screen. */
const MAX_EARLY_BYTES = 64 * 1024;

type PaneState = {
  readonly input: PaneInput;
  /** Number of the pending redraw, which includes all output until it arrives. 0: none pending. */
  awaited: number;
  /** Whether no client wants its output now; it is redrawn when one does. */
  isHeld: boolean;
};

export class PanesSession {
  readonly #ports: PanesPorts;
  readonly #panes = new Map<string, PaneState>();
  #list: PaneList = NO_PANES;
  #pending = new PendingCommands();
  #control = new ControlMode();
  /** `lost`: no control client. `opened`: tmux has not attached it yet, and would run commands without a session. */
  #phase: "lost" | "opened" | "attached" = "lost";
  /** Whether a list was requested, and whether something has changed since. */
  #listing: "no" | "asked" | "stale" = "no";
  /** Number of redraws requested. */
  #redraws = 0;
  /** tmux's id of the session. */
  #id = "";
  /** Whether this control client has received a list: it has followed panes added later from their start. */
  #isListed = false;
  /** Output from the start of panes that are not listed yet; undefined if it was too much. */
  readonly #early = new Map<string, Uint8Array | undefined>();
  readonly #waiting = new Set<(result: ActionResult) => void>();

  constructor(ports: PanesPorts) {
    this.#ports = ports;
  }

  get list(): PaneList {
    return this.#list;
  }

  /** Whether actions and input are executed at once. */
  get isAttached(): boolean {
    return this.#phase === "attached";
  }

  find(idOrName: string): Pane | undefined {
    return findPane(this.#list, idOrName);
  }

  // ---- The control client ----------------------------------------------------------------------------------------

  /** A new control client was started; commands in flight to the previous one are given up. */
  opened(): void {
    this.#giveUp();
    this.#control = new ControlMode();
    this.#phase = "opened";
  }

  receive(bytes: Uint8Array): void {
    for (const event of this.#control.push(bytes)) {
      if (this.#phase === "lost") return;
      if (event.type === "fault") this.#lose(event.detail);
      else if (event.type === "reply") {
        if (event.isOurs && !this.#pending.take(event)) this.#lose("unexpected answer from tmux");
      } else this.#notified(event);
    }
  }

  /** The control client has ended by itself. */
  ended(why: string): void {
    if (this.#phase !== "lost") this.#lose(why);
  }

  /** tmux or the session in it has ended: no panes are left. */
  finished(): void {
    this.#phase = "lost";
    this.#giveUp();
    this.#take(NO_PANES);
  }

  #notified(event: Notification): void {
    switch (event.type) {
      case "output": {
        const pane = this.#panes.get(event.pane);
        if (pane === undefined) this.#keepEarly(event.pane, event.bytes);
        else if (pane.awaited === 0 && !pane.isHeld) this.#ports.output(event.pane, event.bytes, false);
        return;
      }
      case "attached":
        this.#attached(event.session);
        return;
      case "layout":
        if (this.#phase !== "attached") return;
        // If one pane fills a window, only the list says which panes are visible.
        if (event.layout === event.visible) this.#take(withLayout(this.#list, event.window, event.layout));
        this.#requestList();
        return;
      case "changed":
      case "subscription":
        if (this.#phase === "attached") this.#requestList();
        return;
      case "pause":
        if (this.#panes.get(event.pane)?.isHeld === false) this.#resume(event.pane);
        return;
      case "exit":
        this.#lose(event.reason === "" ? "detached" : event.reason);
        return;
      default:
        return;
    }
  }

  /** Also called when the client is moved to another session: everything is then queried again. */
  #attached(id: string): void {
    this.#phase = "attached";
    this.#id = id;
    this.#isListed = false;
    this.#early.clear();
    // Redraw each pane before its output is delivered.
    for (const pane of this.#panes.values()) pane.awaited = ++this.#redraws;
    this.#run(WATCH_NAMES, () => undefined);
    this.#requestList((list) => {
      for (const [id, pane] of this.#panes) {
        const bytes = pane.input.restore(list.taken.get(id) ?? 0);
        if (bytes > 0) this.#ports.taken(id, bytes);
        if (pane.isHeld) this.#run(pausePane(id), () => undefined);
        this.#redraw(id);
        this.#type(id);
      }
    });
  }

  #lose(why: string): void {
    this.#phase = "lost";
    this.#giveUp();
    this.#ports.lost(why);
  }

  #giveUp(): void {
    this.#pending = new PendingCommands();
    this.#listing = "no";
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const answer of waiting) answer({ ok: false, error: "unknown" });
  }

  #run(line: CommandLine, answered: Parameters<PendingCommands["push"]>[1]): void {
    this.#pending.push(line, answered);
    this.#ports.send(`${line.text}\n`);
  }

  // ---- The list of panes -----------------------------------------------------------------------------------------

  /** Requests one list at a time, and once more after a change meanwhile. `first` is called when the list has arrived. */
  #requestList(first?: (list: PaneList) => void): void {
    if (this.#listing !== "no" && first === undefined) {
      this.#listing = "stale";
      return;
    }
    this.#listing = "asked";
    this.#run(LIST_PANES, (answer) => {
      const isStale = this.#listing === "stale";
      this.#listing = "no";
      const list = answer.ok ? readPaneList(answer.lines[0] ?? [], this.#id) : undefined;
      if (list === undefined) {
        this.#lose("can't read tmux's list of panes");
        return;
      }
      this.#take(list);
      // A pane that is still not listed has gone.
      this.#early.clear();
      first?.(list);
      this.#isListed = true;
      if (isStale) this.#requestList();
    });
  }

  #take(list: PaneList): void {
    const before = this.#list;
    const begun: string[] = [];
    this.#list = list;
    for (const id of [...this.#panes.keys()]) {
      if (list.panes.some((pane) => pane.id === id)) continue;
      this.#panes.delete(id);
      this.#ports.closed(id);
    }
    for (const { id } of list.panes) {
      if (this.#panes.has(id)) continue;
      this.#panes.set(id, { input: new PaneInput(id, list.taken.get(id) ?? 0), awaited: 0, isHeld: false });
      if (this.#isListed) begun.push(id);
    }
    if (!isSame(before, list)) this.#ports.changed(list);
    for (const id of begun) this.#begin(id, before.elsewhere.has(id));
  }

  /** A pane that was followed from its start needs no redraw: its output has everything, tmux does not. */
  #begin(id: string, isFromElsewhere: boolean): void {
    const early = this.#early.get(id);
    if (isFromElsewhere || (early === undefined && this.#early.has(id))) this.#redraw(id);
    else if (early !== undefined) this.#ports.output(id, early, false);
  }

  #keepEarly(id: string, bytes: Uint8Array): void {
    if (!this.#isListed) return;
    const before = this.#early.has(id) ? this.#early.get(id) : new Uint8Array(0);
    const length = (before?.length ?? MAX_EARLY_BYTES) + bytes.length;
    const kept = before === undefined || length > MAX_EARLY_BYTES ? undefined : new Uint8Array(length);
    kept?.set(before ?? []);
    kept?.set(bytes, length - bytes.length);
    this.#early.set(id, kept);
    this.#requestList();
  }

  /** Stops delivering a pane's output until {@link release}, for a client that can't take more. Its program runs on. */
  hold(id: string): void {
    const pane = this.#panes.get(id);
    if (pane === undefined || pane.isHeld) return;
    pane.isHeld = true;
    if (this.#phase === "attached") this.#run(pausePane(id), () => undefined);
  }

  /** Redraws the pane and continues from there. */
  release(id: string): void {
    const pane = this.#panes.get(id);
    if (pane?.isHeld !== true) return;
    pane.isHeld = false;
    this.#resume(id);
  }

  /** Requests the pane's screen; delivery continues where its output has got to. */
  draw(id: string): void {
    this.#redraw(id);
  }

  /** Continue before the redraw: output between the two is not delivered, since the redraw has it. */
  #resume(id: string): void {
    if (this.#phase !== "attached") return;
    this.#run(continuePane(id), () => undefined);
    this.#redraw(id);
  }

  #redraw(id: string): void {
    const pane = this.#panes.get(id);
    if (pane === undefined || pane.isHeld || this.#phase !== "attached") return;
    const number = ++this.#redraws;
    pane.awaited = number;
    this.#run(capture(id), (answer) => {
      // A later redraw is pending, or the pane has gone and will be missing in the next list.
      if (!answer.ok || pane.awaited !== number || this.#panes.get(id) !== pane) return;
      pane.awaited = 0;
      if (pane.isHeld) return;
      const [state = [], history = [], screen = [], saved = []] = answer.lines;
      const bytes = redraw({ state, history, screen, saved });
      if (bytes === undefined) this.#lose("can't read tmux's state of a pane");
      else this.#ports.output(id, bytes, true);
    });
  }

  // ---- Input and actions -----------------------------------------------------------------------------------------

  /** @returns How many bytes were copied; all (dropped) if the pane is gone. */
  write(id: string, bytes: Uint8Array): number {
    const pane = this.#panes.get(id);
    if (pane === undefined) return bytes.length;
    const length = pane.input.write(bytes);
    this.#type(id);
    return length;
  }

  /** Whether a pane takes this many bytes at once. */
  hasRoom(id: string, bytes: number): boolean {
    return (this.#panes.get(id)?.input.room ?? 0) >= bytes;
  }

  #type(id: string): void {
    const pane = this.#panes.get(id);
    if (pane === undefined || this.#phase !== "attached") return;
    for (let line = pane.input.next(); line !== undefined; line = pane.input.next()) {
      this.#run(line, (answer) => {
        // If the command fails, the pane is gone, and no program will read these bytes.
        const bytes = pane.input.confirm();
        if (!answer.ok) this.#requestList();
        if (this.#panes.get(id) !== pane) return;
        this.#ports.taken(id, bytes);
        this.#type(id);
      });
    }
  }

  /** Executes a client's action on panes at most once. The caller checks its ids against {@link list}. */
  act(action: PaneAction, answered: (result: ActionResult) => void): void {
    if (this.#phase !== "attached") {
      answered({ ok: false, error: "unknown" });
      return;
    }
    this.#waiting.add(answered);
    this.#run(commandOf(action), (answer) => {
      this.#waiting.delete(answered);
      const error = answer.ok ? "" : answer.lines.map(decodeUtf8).join(" ").slice(0, 256);
      answered(answer.ok ? { ok: true } : { ok: false, error });
    });
    // tmux reports no layout if a window need not be divided again, as for a name or a swap of equal panes.
    this.#requestList();
  }
}

/** Ignores the counts of input, which change with each key: clients don't need them. */
function isSame(one: PaneList, other: PaneList): boolean {
  const text = ({ windows, panes }: PaneList) => JSON.stringify([windows, panes]);
  return one === other || text(one) === text(other);
}
