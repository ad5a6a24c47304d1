// Atomic writes: a file's next content is written beside it, then renamed.

import { randomBytes } from "node:crypto";
import fs from "node:fs";

/** Suffix of a draft: the process and 64 random bits, so that nobody can have placed a link there. */
const END = /^\.(\d+)(?:\.[\da-f]{16})?\.tmp$/;

/** @returns The draft's path. Only its owner can read it. */
export function writeDraft(file: string, text: string): string {
  const draft = `${file}.${process.pid}.${randomBytes(8).toString("hex")}.tmp`;
  try {
    fs.writeFileSync(draft, text, { mode: 0o600, flag: "wx" });
    return draft;
  } catch (error) {
    removeDraft(draft);
    throw error;
  }
}

export function removeDraft(draft: string): void {
  try {
    fs.rmSync(draft, { force: true });
  } catch {
    // The folder is not a folder, so there is no draft.
  }
}

/** The pid of the process whose draft of `file` has this name; undefined if it is no draft. Both are base names. */
export function drafterOf(file: string, name: string): number | undefined {
  const pid = name.startsWith(file) ? END.exec(name.slice(file.length))?.[1] : undefined;
  return pid === undefined ? undefined : Number(pid);
}
