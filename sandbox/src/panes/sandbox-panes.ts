// The panes of all sessions of this bridge that run under tmux.

import type { PaneAddress, PaneList } from "sandbox-stdio/panes";
import { log } from "../base/log.ts";
import type { StartFault } from "../process/command.ts";
import type { ChildProcess, OutputSink, ProcessEvents } from "../process/process.ts";
import type { TmuxPlace } from "./control-client.ts";
import { shownSize } from "./pane-output.ts";
import { PaneProcess } from "./pane-process.ts";
import { SharedPanes } from "./shared-panes.ts";
import { tmuxName } from "./tmux-session.ts";

export class SandboxPanes {
  readonly #sessions = new Map<string, SharedPanes>();

  /** Follows the panes of a session whose tmux has just been started. */
  follow(sandbox: string, session: string, place: TmuxPlace, changed: (list: PaneList) => void): SharedPanes {
    const panes = new SharedPanes(place, tmuxName(session), {
      changed,
      lost: (why) => log.debug(`the panes of session ${session} are not followed for now: ${why}`),
    });
    this.#sessions.set(keyOf(sandbox, session), panes);
    const fault = panes.start();
    if (fault !== undefined) log.error(`the panes of session ${session} can't be followed: ${fault.detail}`);
    return panes;
  }

  /** The session has ended. */
  end(sandbox: string, session: string): void {
    this.#sessions.get(keyOf(sandbox, session))?.close();
    this.#sessions.delete(keyOf(sandbox, session));
  }

  /** The size of a pane's terminal; undefined if there is no such pane. */
  sizeOf(sandbox: string, { session, number }: PaneAddress): { cols: number; rows: number } | undefined {
    const pane = this.#sessions.get(keyOf(sandbox, session))?.session.find(`%${number}`);
    return pane && shownSize(pane);
  }

  /** Opens a pane in a process's place. */
  open(
    sandbox: string,
    { session, number }: PaneAddress,
    sink: OutputSink,
    events: ProcessEvents,
  ): ChildProcess | StartFault {
    const panes = this.#sessions.get(keyOf(sandbox, session));
    const detail =
      panes === undefined ? `session "${session}" has no panes` : `session "${session}" has no pane %${number}`;
    const process = panes === undefined ? undefined : PaneProcess.open(panes, `%${number}`, sink, events);
    return process ?? { fault: "no_such_pane", detail };
  }
}

function keyOf(sandbox: string, session: string): string {
  return `${sandbox}/${session}`;
}
