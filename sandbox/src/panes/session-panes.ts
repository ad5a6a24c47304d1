// The panes of one session that runs under tmux: its start, the clients' orders for panes, and its end.

import type { ClientRecord, PaneOrder, PanesMessage } from "sandbox-stdio/core";
import type { StartFault } from "../process/command.ts";
import type { TmuxPlace } from "./control-client.ts";
import { carryOut, panesMessage } from "./pane-orders.ts";
import type { SandboxPanes } from "./sandbox-panes.ts";
import type { SharedPanes } from "./shared-panes.ts";
import { endTmuxSession, findFault, tmuxServer, underTmux } from "./tmux-session.ts";

type Names = { readonly sandbox: string; readonly session: string };
type TerminalSize = { readonly cols: number; readonly rows: number };

export class SessionPanes {
  readonly #all: SandboxPanes;
  readonly #names: Names;
  readonly #place: TmuxPlace;
  readonly #changed: (panes: PanesMessage) => void;
  /** Undefined until tmux has drawn something. */
  #panes: SharedPanes | undefined;

  /** @param changed Called with the panes whenever they change. */
  constructor(
    all: SandboxPanes,
    { sandbox, session }: Names,
    around: Omit<TmuxPlace, "server">,
    changed: (panes: PanesMessage) => void,
  ) {
    this.#all = all;
    this.#names = { sandbox, session };
    this.#place = { ...around, server: tmuxServer(sandbox, session) };
    this.#changed = changed;
  }

  /** The command to start in place of the session's, or why it can't be started. */
  command(words: readonly string[], size: TerminalSize): { cmd: string; args: readonly string[] } | StartFault {
    return findFault(this.#place, words) ?? underTmux(this.#place, this.#names.session, size, words);
  }

  /** To be called when tmux has drawn something: a control client that comes while tmux starts, without a session, makes it end. */
  begun(): void {
    const { sandbox, session } = this.#names;
    this.#panes = this.#all.follow(sandbox, session, this.#place, (list) => this.#changed(panesMessage(list)));
  }

  order(client: ClientRecord, order: PaneOrder): void {
    const refused = (code: string, message: string) => client.tell({ type: "error", code, message });
    carryOut(this.#panes, client.id, order, refused);
  }

  departed(client: ClientRecord): void {
    this.#panes?.giveBack(client.id);
  }

  /** The program of the PTY has ended. Ends all panes: who ends the session means everything that runs in it. */
  ended(): void {
    const { sandbox, session } = this.#names;
    this.#all.end(sandbox, session);
    this.#panes = undefined;
    endTmuxSession(this.#place, session);
  }
}

/** The answer to an order for a pane of a session without panes. */
export const NO_PANES = { type: "error", code: "no_such_pane", message: "this session has no panes" } as const;
