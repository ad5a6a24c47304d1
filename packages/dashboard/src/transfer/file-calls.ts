// What the files panel asks the sandbox: folders are listed by `find`, and files are read by `head`, each in a session that is forgotten
// at once.

import { isRecord } from "sandbox-stdio/core";
import { callApi, textOf } from "../connection/api.ts";

export type Entry = { readonly name: string; readonly isFolder: boolean };

export type Listing = {
  readonly entries: readonly Entry[];
  /** Whether more entries are there than were read. */
  readonly isCut: boolean;
};

export type FileText = { readonly text: string; readonly isCut: boolean };

/** The most that one call reads, in bytes. */
const MAX_BYTES = 1_048_576;
const MAX_TEXT = 262_144;
const WAIT_MS = 60_000;

/** Arguments of `find` that GNU, BSD and BusyBox know. A link counts as what it leads to. */
const listArgs = (folder: string): string[] => [
  ...["-L", folder, "-mindepth", "1", "-maxdepth", "1"],
  ...["-type", "d", "-exec", "printf", "d%s\\0", "{}", "+", "-o", "-exec", "printf", "f%s\\0", "{}", "+"],
];

export class FileCalls {
  readonly #path: string;

  constructor(sandbox: string) {
    this.#path = `/api/sandboxes/${encodeURIComponent(sandbox)}/run`;
  }

  /** Where sessions begin. @throws {Error} */
  async home(): Promise<string> {
    const { output, fault } = await this.#run("pwd", []);
    if (fault !== undefined) throw new Error(fault);
    return output.trimEnd();
  }

  /** @throws {Error} With the system's words if nothing could be listed. */
  async list(folder: string): Promise<Listing> {
    const { output, isCut, fault } = await this.#run("find", listArgs(folder));
    const entries = readEntries(output);
    if (entries.length === 0 && fault !== undefined) throw new Error(fault);
    return { entries, isCut };
  }

  /** The beginning of a file. @throws {Error} */
  async read(path: string): Promise<FileText> {
    const { output, isCut, fault } = await this.#run("head", ["-c", String(MAX_TEXT + 1), path]);
    if (fault !== undefined) throw new Error(fault);
    return { text: output.slice(0, MAX_TEXT), isCut: isCut || output.length > MAX_TEXT };
  }

  async #run(cmd: string, args: readonly string[]): Promise<{ output: string; isCut: boolean; fault?: string }> {
    const body = { cmd, args, stdin: "", waitMs: WAIT_MS, maxBytes: MAX_BYTES, keepExitedSeconds: 0 };
    const answer = await callApi("POST", this.#path, body);
    if (!answer.ok) throw new Error(answer.reason ?? "the server sent an invalid response");
    const { exit, next, end } = isRecord(answer.value) ? answer.value : {};
    const output = textOf(answer.value, "stdout") ?? "";
    const isCut = exit === undefined || next !== end;
    if (isRecord(exit) && exit.code === 0) return { output, isCut };
    const told = textOf(answer.value, "stderr")?.trim().split("\n")[0];
    return { output, isCut, fault: told ?? `${cmd} did not end` };
  }
}

/** The entries that `find` printed, folders first. A name that is cut off is left out. */
export function readEntries(output: string): Entry[] {
  const entries = output
    .split("\0")
    .slice(0, -1)
    .map((line) => ({
      name: line.slice(line.lastIndexOf("/") + 1),
      isFolder: line.startsWith("d"),
    }));
  const byName = new Intl.Collator(undefined, { numeric: true });
  return entries.sort((a, b) => Number(b.isFolder) - Number(a.isFolder) || byName.compare(a.name, b.name));
}
