// One session that runs under tmux, as its host needs it: how it is started, the clients' orders for its panes, and its end.

import type { ClientRecord, PaneOrder, PanesMessage } from "sandbox-stdio/core";
import type { StartFault } from "../process/command.ts";
import type { TmuxPlace } from "./control-client.ts";
import { carryOut, panesMessage } from "./pane-orders.ts";
import type { SandboxPanes } from "./sandbox-panes.ts";
import { endTmuxSession, findFault, tmuxServer, underTmux } from "./tmux-session.ts";

type Names = { readonly sandbox: string; readonly session: string };
type TerminalSize = { readonly cols: number; readonly rows: number };

export class SessionPanes {
  readonly #all: SandboxPanes;
  readonly #names: Names;
  readonly #place: TmuxPlace;
  readonly #changed: (panes: PanesMessage) => void;

  /** @param changed Told the panes whenever they are others than before. */
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

  /** The command to start in place of the session's own, or why it can't be started. */
  command(words: readonly string[], size: TerminalSize): { cmd: string; args: readonly string[] } | StartFault {
    return findFault(this.#place, words) ?? underTmux(this.#place, this.#names.session, size, words);
  }

  /** tmux has drawn something. Not before: a client that comes while tmux starts makes it end, as it has no session yet. */
  begun(): void {
    const { sandbox, session } = this.#names;
    this.#all.follow(sandbox, session, this.#place, (list) => this.#changed(panesMessage(list)));
  }

  order(client: ClientRecord, order: PaneOrder): void {
    const { sandbox, session } = this.#names;
    const refused = (code: string, message: string) => client.tell({ type: "error", code, message });
    carryOut(this.#all.of(sandbox, session), client.id, order, refused);
  }

  departed(client: ClientRecord): void {
    const { sandbox, session } = this.#names;
    this.#all.of(sandbox, session)?.giveBack(client.id);
  }

  /** The program of the PTY has ended: so do all panes, since a client that ends the session means all that runs in it. */
  ended(): void {
    const { sandbox, session } = this.#names;
    this.#all.end(sandbox, session);
    endTmuxSession(this.#place, session);
  }
}

/** The answer for a client that wants something with panes where there are none. */
export const NO_PANES = { type: "error", code: "no_such_pane", message: "this session has no panes" } as const;
