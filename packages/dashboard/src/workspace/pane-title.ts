// What a pane is called: by its person, else by what runs in it and where. Pure.

import type { SessionTarget } from "../connection/session-target.ts";

/** What the shell and its programs say of themselves. */
export type PaneFacts = {
  /** The title that a program set; "" for none. */
  readonly title: string;
  /** The shell's directory, and the command that runs in it, if the shell marks them. */
  readonly cwd: string | undefined;
  readonly running: string | undefined;
};

/** Sessions that the page named itself: see `randomSessionName`. */
const GENERATED = /^web-[a-z1-9]{8}$/;
const MAX_COMMAND = 40;

/** @param own The person's own name of the session. @param facts undefined: nothing is known yet. */
export function paneTitle({ session }: SessionTarget, own: string | undefined, facts: PaneFacts | undefined): string {
  if (own !== undefined) return own;
  const { title = "", cwd, running } = facts ?? {};
  const place = GENERATED.test(session) && cwd !== undefined ? folderOf(cwd) : session;
  // A marked shell's own title is its prompt once more.
  const what = cwd === undefined ? title : running === undefined ? "" : title || commandName(running);
  return what === "" ? place : `${what} · ${place}`;
}

function folderOf(path: string): string {
  return path.split("/").findLast((part) => part !== "") ?? "/";
}

/** The first line of a command, as far as a tab has room. */
function commandName(line: string): string {
  const first = (line.split("\n")[0] ?? "").trim();
  return first.length <= MAX_COMMAND ? first : `${first.slice(0, MAX_COMMAND - 1).trimEnd()}…`;
}
