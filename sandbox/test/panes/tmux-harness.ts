// A tmux server for a test, its panes as the bridge follows them, and what `list-panes` says of the same.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ActionResult, PaneAction, PaneList } from "sandbox-stdio/panes";
import { TmuxPanes } from "../../src/panes/shared-panes.ts";
import { ENV } from "../support/process-harness.ts";

export const SESSION = "main";

/** A server in a directory, and conditions that are checked whenever something is told. */
export class TmuxServer {
  readonly directory = mkdtempSync(join(tmpdir(), "panes-"));
  readonly place = { env: ENV, cwd: this.directory, server: ["-f", "/dev/null", "-S", join(this.directory, "socket")] };
  #looks: (() => void)[] = [];

  /** Runs a tmux command, as a person in the sandbox may. */
  run(...args: string[]): string {
    return execFileSync("tmux", [...this.place.server, ...args], { encoding: "utf8", env: ENV, cwd: this.directory });
  }

  /** Resolves once it holds, asked after each thing that is told. */
  until(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!holds()) return;
        this.#looks = this.#looks.filter((other) => other !== look);
        resolve();
      };
      this.#looks.push(look);
      look();
    });
  }

  look(): void {
    for (const look of this.#looks) look();
  }

  close(): void {
    try {
      this.run("kill-server");
    } catch {
      // Without a session there is no server any more.
    }
    rmSync(this.directory, { recursive: true, force: true });
  }
}

export class Tmux extends TmuxServer {
  readonly panes: TmuxPanes;
  /** What each pane has put out since its last redraw, the redraw included. */
  readonly output = new Map<string, Buffer[]>();
  readonly taken = new Map<string, number>();
  readonly closed: string[] = [];
  readonly lost: string[] = [];
  /** How many redraws have come, of any pane. */
  redraws = 0;

  constructor(command: readonly string[], isTerminal: boolean) {
    super();
    this.run("new-session", "-d", "-s", SESSION, "-x", "160", "-y", "48", ...command);
    this.panes = new TmuxPanes(
      this.place,
      SESSION,
      {
        changed: () => this.look(),
        output: (pane, bytes, isRedraw) => {
          if (isRedraw) this.redraws++;
          const chunks = isRedraw ? [] : (this.output.get(pane) ?? []);
          this.output.set(pane, [...chunks, Buffer.from(bytes)]);
          this.look();
        },
        taken: (pane, bytes) => {
          this.taken.set(pane, (this.taken.get(pane) ?? 0) + bytes);
          this.look();
        },
        closed: (pane) => this.closed.push(pane),
        lost: (why) => this.lost.push(why),
      },
      isTerminal,
    );
    this.panes.start();
  }

  text(pane: string): string {
    return Buffer.concat(this.output.get(pane) ?? []).toString("latin1");
  }

  act(action: PaneAction): Promise<ActionResult> {
    return new Promise((resolve) => this.panes.session.act(action, resolve));
  }

  /** What tmux itself says, in its order. */
  truth(): string[] {
    const format = "#{pane_id} #{window_id} #{pane_active} #{pane_width}x#{pane_height}+#{pane_left}+#{pane_top}";
    return this.run("list-panes", "-s", "-t", SESSION, "-F", format).trimEnd().split("\n");
  }

  /** The same, as the bridge knows it. */
  known({ panes }: PaneList = this.panes.session.list): string[] {
    return panes.map(
      (pane) => `${pane.id} ${pane.window} ${pane.active ? 1 : 0} ${pane.cols}x${pane.rows}+${pane.left}+${pane.top}`,
    );
  }

  override close(): void {
    this.panes.close();
    super.close();
  }
}
