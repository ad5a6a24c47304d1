// Panes in the attach query: `panes=1` gives a session panes, `pane=SESSION:NUMBER` attaches to one of them.

/** Pane `%number` of a session in the same sandbox. */
export type PaneAddress = { readonly session: string; readonly number: number };

/** `SESSION:NUMBER`. */
export const PANE = /^([A-Za-z0-9_][A-Za-z0-9._-]{0,63}):(\d{1,9})$/;

/** @returns undefined if the text is absent or malformed. */
export function readPaneAddress(text: string | null): PaneAddress | undefined {
  const [, session, number] = PANE.exec(text ?? "") ?? [];
  return session === undefined ? undefined : { session, number: Number(number) };
}

export function writePaneAddress({ session, number }: PaneAddress): string {
  return `${session}:${number}`;
}

type Params = { get(name: string): string | null; getAll(name: string): string[] };

/** Words allowed after `tmux -CC`. The client can't choose tmux's session. */
const BEGINNINGS: ReadonlySet<string> = new Set(["new", "new-session", "attach", "attach-session"]);

/** Whether the query asks for panes: `panes=1`, or `tmux -CC`, which terminals start for the same purpose. */
export function wantsPanes(params: Params): boolean {
  return params.get("panes") === "1" || isControlMode(params);
}

/** `cmd=tmux&arg=-CC`. The bridge itself speaks control mode, so this is not run as a command. */
export function isControlMode(params: Params): boolean {
  return params.get("cmd") === "tmux" && params.getAll("arg")[0] === "-CC";
}

/** Parameters of a command to start. */
export const STARTING = ["cmd", "arg", "env", "cwd", "linger"] as const;

/** The fault of `pane` and `panes` in an attach query, or undefined. */
export function findPaneProblem(params: Params): string | undefined {
  const pane = params.get("pane");
  if (pane !== null) {
    const other = [...STARTING, "tcp"].find((name) => params.get(name) !== null);
    if (other !== undefined) return `"pane" attaches to an existing pane: leave out "${other}"`;
    if (params.get("tty") === "0" || params.get("delivery") === "lossless") return '"pane" is always a live terminal';
  }
  if (!wantsPanes(params)) return undefined;
  const [, beginning = "new", ...more] = isControlMode(params) ? params.getAll("arg") : [];
  if (more.length > 0 || !BEGINNINGS.has(beginning)) {
    return '"tmux -CC" takes no further arguments here: use "panes=1", with the command of the first pane as "cmd"';
  }
  if (params.get("tty") === "0") return '"panes" needs a terminal: leave out "tty"';
  return params.get("tcp") !== null || pane !== null ? '"panes" excludes "tcp" and "pane"' : undefined;
}
