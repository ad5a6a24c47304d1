// A file's next content, beside it, until it takes its name: whole or not at all.

import { randomBytes } from "node:crypto";
import fs from "node:fs";

/** Of a draft's name, behind the file's: the process, and 64 bits of chance, so that nobody can have put a link there. */
const END = /^\.(\d+)(?:\.[\da-f]{16})?\.tmp$/;

/** @returns Its name. It is for its owner alone. */
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
    // Its folder is none: there is no draft.
  }
}

/** The process whose draft of `file` this name is; undefined where it is none. Both without their folder. */
export function drafterOf(file: string, name: string): number | undefined {
  const pid = name.startsWith(file) ? END.exec(name.slice(file.length))?.[1] : undefined;
  return pid === undefined ? undefined : Number(pid);
}
