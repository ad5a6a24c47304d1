// What the files panel asks the sandbox: folders are listed by `find`, and files are read by `head`, each in a session that is forgotten
// at once.

import { isRecord } from "sandbox-stdio/core";
import { callApi, textOf } from "../connection/api.ts";
import { type FileContent, pictureType, textOfFile } from "./file-content.ts";
import { nameOf } from "./file-paths.ts";

/** As `ls` writes them. */
export type Facts = { readonly bytes: number; readonly date: string };

export type Entry = {
  readonly name: string;
  readonly isFolder: boolean;
  /** Absent for folders and devices. */
  readonly facts?: Facts | undefined;
};

export type Listing = {
  readonly entries: readonly Entry[];
  /** Whether more entries are there than were read. */
  readonly isCut: boolean;
};

/** The most that one call reads, in bytes. */
const MAX_BYTES = 1_048_576;
const MAX_TEXT = 256_000;
/** A larger picture is not drawn: its address is a third longer than it. */
const MAX_PICTURE = 16 * 1024 * 1024;
const WAIT_MS = 60_000;
const LATE = "the command did not end";

/** Between what `ls` says and the names. Of output that is too long the beginning is lost: sizes first. */
const NAMES = "//";

/**
 * Prints what `ls` says of the files, then `d` or `f` and the path of each entry, all NUL-terminated. With arguments that GNU, BSD and
 * BusyBox know. A link counts as what it leads to.
 */
export const LIST = String.raw`entries() { find -L "$0" -mindepth 1 -maxdepth 1 "$@"; }
LC_ALL=C entries -type f -exec ls -Llnd {} + 2>/dev/null
printf '${NAMES}\0'
entries -type d -exec printf 'd%s\0' {} + -o -exec printf 'f%s\0' {} +`;

/** Prints what `ls` says of a file in a line, then the file's beginning in base64: an answer has only text. */
export const READ = `head -c 1 "$0" >/dev/null && LC_ALL=C ls -Lnd "$0" | head -n 1 && head -c ${MAX_TEXT} "$0" | base64`;

export class FileCalls {
  readonly #path: string;
  readonly #whole: (path: string) => Promise<Blob | undefined>;

  /** @param whole Brings all of a file. */
  constructor(sandbox: string, whole: (path: string) => Promise<Blob | undefined>) {
    this.#path = `/api/sandboxes/${encodeURIComponent(sandbox)}/run`;
    this.#whole = whole;
  }

  /** Where sessions begin. @throws {Error} */
  async home(): Promise<string> {
    const { output, fault } = await this.#run("pwd", []);
    if (fault !== undefined) throw new Error(fault);
    return output.trimEnd();
  }

  /** @throws {Error} With the system's words if nothing could be listed. */
  async list(folder: string): Promise<Listing> {
    const { output, fault } = await this.#run("sh", ["-c", LIST, folder]);
    const listing = readListing(output);
    if (listing.entries.length === 0 && fault !== undefined) throw new Error(fault);
    return { ...listing, isCut: listing.isCut || fault === LATE };
  }

  /** The beginning of a text, or a picture. @throws {Error} */
  async read(path: string): Promise<FileContent> {
    const { output, fault } = await this.#run("sh", ["-c", READ, path]);
    if (fault !== undefined) throw new Error(fault);
    const { start, ...facts } = readStart(output);
    const type = facts.bytes > MAX_PICTURE ? undefined : pictureType(start);
    const picture = type && (await addressOf(await this.#whole(path), type));
    if (picture !== undefined) return { ...facts, picture };
    const shown = textOfFile(start, start.length < facts.bytes);
    return shown === undefined ? facts : { ...facts, text: { shown, bytes: start.length } };
  }

  async #run(cmd: string, args: readonly string[]): Promise<{ output: string; fault?: string }> {
    const body = { cmd, args, stdin: "", waitMs: WAIT_MS, maxBytes: MAX_BYTES, keepExitedSeconds: 0 };
    const answer = await callApi("POST", this.#path, body);
    if (!answer.ok) throw new Error(answer.reason ?? "the server sent an invalid response");
    const { exit } = isRecord(answer.value) ? answer.value : {};
    const output = textOf(answer.value, "stdout") ?? "";
    if (isRecord(exit) && exit.code === 0) return { output };
    const told = textOf(answer.value, "stderr")?.trim().split("\n")[0];
    return { output, fault: told ?? LATE };
  }
}

/** What {@link LIST} printed, folders first. A name that is cut off is left out. */
export function readListing(output: string): Listing {
  const [told = "", ...paths] = output.split("\0").slice(0, -1);
  const facts = new Map(told.split("\n").flatMap((line) => readFacts(line)));
  const entries = paths.map((line) => ({
    name: nameOf(line),
    isFolder: line.startsWith("d"),
    facts: facts.get(line.slice(1)),
  }));
  const byName = new Intl.Collator(undefined, { numeric: true });
  entries.sort((a, b) => Number(b.isFolder) - Number(a.isFolder) || byName.compare(a.name, b.name));
  return { entries, isCut: !told.endsWith(NAMES) };
}

/** What {@link READ} printed. */
export function readStart(output: string): Facts & { readonly start: Uint8Array } {
  const line = output.indexOf("\n");
  const start = Uint8Array.from(atob(output.slice(line + 1)), (unit) => unit.charCodeAt(0));
  const [[, { bytes, date }] = ["", { bytes: 0, date: "" }]] = readFacts(output.slice(0, line));
  // Files of /proc say that they are empty.
  return { bytes: Math.max(bytes, start.length), date, start };
}

/** A line of `ls -n`: mode, links, owner, group, size, date, path. */
function readFacts(line: string): readonly (readonly [path: string, Facts])[] {
  const [, bytes, date, path] = /^-\S* +\d+ +\d+ +\d+ +(\d+) +(.+?) (\/.*)$/.exec(line) ?? [];
  return path === undefined || date === undefined ? [] : [[path, { bytes: Number(bytes), date }]];
}

/** As data: an SVG that is opened from there by itself has nothing of this page's origin. */
function addressOf(content: Blob | undefined, type: string): Promise<string> | undefined {
  return (
    content &&
    new Promise((resolve) => {
      const reader = new FileReader();
      reader.addEventListener("load", () => resolve(String(reader.result)));
      reader.readAsDataURL(new Blob([content], { type }));
    })
  );
}
