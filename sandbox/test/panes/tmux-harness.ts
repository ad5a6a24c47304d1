// A tmux server of a test's own, its panes as the bridge follows them, and what `list-panes` says of the same.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ActionResult, PaneAction, PaneList } from "sandbox-stdio/panes";
import { TmuxPanes } from "../../src/panes/tmux-panes.ts";
import { ENV } from "../support/process-harness.ts";

export const SESSION = "main";

export class Tmux {
  readonly panes: TmuxPanes;
  readonly directory = mkdtempSync(join(tmpdir(), "panes-"));
  /** What each pane has put out since its last redraw, the redraw included. */
  readonly output = new Map<string, Buffer[]>();
  readonly taken = new Map<string, number>();
  readonly closed: string[] = [];
  readonly lost: string[] = [];
  /** How many redraws have come, of any pane. */
  redraws = 0;
  #looks: (() => void)[] = [];

  constructor(command: readonly string[], isTerminal: boolean) {
    this.run("new-session", "-d", "-s", SESSION, "-x", "160", "-y", "48", ...command);
    this.panes = new TmuxPanes(
      { env: ENV, cwd: this.directory, server: this.#server },
      SESSION,
      {
        changed: () => this.#look(),
        output: (pane, bytes, isRedraw) => {
          if (isRedraw) this.redraws++;
          const chunks = isRedraw ? [] : (this.output.get(pane) ?? []);
          this.output.set(pane, [...chunks, Buffer.from(bytes)]);
          this.#look();
        },
        taken: (pane, bytes) => {
          this.taken.set(pane, (this.taken.get(pane) ?? 0) + bytes);
          this.#look();
        },
        closed: (pane) => this.closed.push(pane),
        lost: (why) => this.lost.push(why),
      },
      isTerminal,
    );
    this.panes.start();
  }

  get #server(): string[] {
    return ["-f", "/dev/null", "-S", join(this.directory, "socket")];
  }

  /** As anybody in the sandbox may, beside us. */
  run(...args: string[]): string {
    return execFileSync("tmux", [...this.#server, ...args], { encoding: "utf8", env: ENV, cwd: this.directory });
  }

  text(pane: string): string {
    return Buffer.concat(this.output.get(pane) ?? []).toString("latin1");
  }

  act(action: PaneAction): Promise<ActionResult> {
    return new Promise((resolve) => this.panes.session.act(action, resolve));
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

  #look(): void {
    for (const look of this.#looks) look();
  }

  /** What tmux itself says, in its order. */
  truth(): string[] {
    const format = "#{pane_id} #{window_id} #{pane_active} #{pane_width}x#{pane_height}+#{pane_left}+#{pane_top}";
    return this.run("list-panes", "-s", "-t", SESSION, "-F", format).trimEnd().split("\n");
  }

  /** The same of what we know. */
  known({ panes }: PaneList = this.panes.session.list): string[] {
    return panes.map(
      (pane) => `${pane.id} ${pane.window} ${pane.active ? 1 : 0} ${pane.cols}x${pane.rows}+${pane.left}+${pane.top}`,
    );
  }

  close(): void {
    this.panes.close();
    try {
      this.run("kill-server");
    } catch {
      // Without a session there is no server any more.
    }
    rmSync(this.directory, { recursive: true, force: true });
  }
}
