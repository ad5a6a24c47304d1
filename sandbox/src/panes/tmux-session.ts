// How a session runs under tmux: its server and name, the program in the PTY that clients see, and its end.

import { createHash } from "node:crypto";
import { log } from "../base/log.ts";
import { resolveCommand, type StartFault } from "../process/command.ts";
import { startProcess } from "../process/process.ts";
import type { TmuxPlace } from "./control-client.ts";

/**
 * The words that name the tmux server of a session. A server for the whole sandbox would give every session the variables of the
 * first one, and would end under a session that starts while the last one ends.
 */
export function tmuxServer(sandbox: string, session: string): readonly string[] {
  return ["-L", `sbx-${createHash("sha256").update(`${sandbox} ${session}`).digest("hex").slice(0, 16)}`];
}

/** tmux allows no dots in names; names of our sessions have no tilde. */
export function tmuxName(session: string): string {
  return session.replaceAll(".", "~");
}

/** Why a session can't run under tmux, as far as it is known before the start. */
export function findFault({ env, cwd }: TmuxPlace, [cmd = ""]: readonly string[]): StartFault | undefined {
  const tmux = resolveCommand("tmux", cwd, env.PATH);
  if ("fault" in tmux) return { ...tmux, detail: `a session with panes runs under tmux: ${tmux.detail}` };
  const command = resolveCommand(cmd, cwd, env.PATH);
  return "fault" in command ? command : undefined;
}

/**
 * Attaches as ordinary clients do, and again after a detach: the session ends with its last pane. `-N` starts no server. A failed
 * start is repeated once, since the server of an earlier session of this name may just be ending.
 */
const SCRIPT = `
name=$1 cols=$2 rows=$3 server=$4; shift 4
unset TMUX TMUX_PANE
has() { tmux -N -L "$server" has-session -t "=$name" 2>/dev/null; }
start() { tmux -L "$server" new-session -d -s "$name" -x "$cols" -y "$rows" -- "$@"; }
has || start "$@" 2>/dev/null || start "$@" || exit
while has; do
  tmux -u -N -L "$server" attach-session -t "=$name" || break
done`;

/** The script that the PTY of a session with panes runs in place of the command. */
export function underTmux(
  { server = [] }: TmuxPlace,
  session: string,
  size: { readonly cols: number; readonly rows: number },
  command: readonly string[],
): { readonly cmd: string; readonly args: readonly string[] } {
  const [, name = ""] = server;
  return {
    cmd: "sh",
    args: ["-c", SCRIPT, "sh", tmuxName(session), String(size.cols), String(size.rows), name, ...command],
  };
}

/** Ends every pane. */
export function endTmuxSession(place: TmuxPlace, session: string): void {
  runTmux(place, "kill-session", "-t", `=${tmuxName(session)}`);
}

/** Lets the clients of a window decide its size again. Not through the control client, which may be lost just now. */
export function giveBackWindow(place: TmuxPlace, window: string): void {
  runTmux(place, "set-option", "-w", "-u", "-t", window, "window-size");
}

/** Runs tmux without waiting: the effect shows in the list of panes. */
function runTmux({ server = [], ...around }: TmuxPlace, ...words: readonly string[]): void {
  const ignore = new Uint8Array(4_096);
  const sink = { reserve: () => ignore, commit: () => undefined, flush: () => undefined };
  const spec = {
    cmd: "tmux",
    args: ["-N", ...server, ...words],
    tty: false,
    cols: 80,
    rows: 24,
    lingerMs: 0,
    ...around,
  };
  const child = startProcess(spec, sink, { onWritable: () => undefined, onExit: () => undefined });
  if ("fault" in child) log.error(`tmux ${words[0]} can't be run: ${child.detail}`);
}
