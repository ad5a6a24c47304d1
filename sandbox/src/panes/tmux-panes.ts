// The panes of one session that runs under tmux, followed by a control client that is restarted whenever it is lost.

import { type PanesPorts, PanesSession } from "sandbox-stdio/panes";
import type { StartFault } from "../process/process.ts";
import { ControlClient, type TmuxPlace } from "./control-client.ts";

/** The pause before a restart. It doubles each time the control client ends before it has attached. */
const RETRY_MS = 50;
const MAX_RETRY_MS = 5_000;

export type TmuxPanesEvents = Omit<PanesPorts, "send" | "lost"> & {
  /** The control client was lost: another is started. */
  lost(why: string): void;
};

export class TmuxPanes {
  readonly session: PanesSession;
  readonly #place: TmuxPlace;
  readonly #name: string;
  readonly #isTerminal: boolean;
  #client: ControlClient | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  #isClosed = false;

  /** @param name The tmux session, which must exist before {@link start}. */
  constructor(place: TmuxPlace, name: string, events: TmuxPanesEvents, isTerminal = false) {
    this.#place = place;
    this.#name = name;
    this.#isTerminal = isTerminal;
    this.session = new PanesSession({
      ...events,
      send: (text) => this.#client?.send(text),
      lost: (why) => {
        events.lost(why);
        // `#ended` follows: two control clients must not type at once.
        this.#client?.end();
      },
    });
  }

  /** The control client's process, or 0. */
  get pid(): number {
    return this.#client?.pid ?? 0;
  }

  start(): StartFault | undefined {
    const events = {
      received: (bytes: Uint8Array) => {
        this.session.receive(bytes);
        if (this.session.isAttached) this.#failures = 0;
      },
      ended: () => this.#ended(),
    };
    const client = ControlClient.start(this.#place, this.#name, events, this.#isTerminal);
    if ("fault" in client) return client;
    this.#client = client;
    this.session.opened();
    return undefined;
  }

  /** The session of tmux has ended, or is given up. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    this.#client?.end();
    this.session.finished();
  }

  #ended(): void {
    this.#client = undefined;
    if (this.#isClosed) return;
    this.session.ended("the control client has ended");
    const delay = Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** this.#failures++);
    this.#retry = setTimeout(() => {
      if (!this.#isClosed && this.start() !== undefined) this.#ended();
    }, delay);
  }
}
