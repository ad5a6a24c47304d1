// What the shell's marks say of itself: its directory, and the command that runs (OSC 633 and 133). Pure.

import { readWorkingDirectory } from "../terminal/shell-marks.ts";

export type ShellFacts = { readonly cwd: string | undefined; readonly running: string | undefined };

export const NO_FACTS: ShellFacts = { cwd: undefined, running: undefined };

/** The facts after a mark; the same object if nothing changes. @param line The line that the shell said to run next. */
export function afterMark(facts: ShellFacts, kind: "633" | "133", text: string, line: string | undefined): ShellFacts {
  if (kind === "633") {
    const cwd = readWorkingDirectory(text);
    // A program may print anything, and this becomes a title.
    const isNew = cwd !== undefined && cwd !== facts.cwd && !/\p{Cc}/u.test(cwd);
    return isNew ? { ...facts, cwd } : facts;
  }
  if (text.startsWith("C")) return { ...facts, running: line };
  return /^[AD]/.test(text) && facts.running !== undefined ? { ...facts, running: undefined } : facts;
}
