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

export type FileContent =
  | { readonly kind: "text"; readonly text: string; readonly isCut: boolean }
  /** The address of a picture, with all of it. */
  | { readonly kind: "picture"; readonly url: string }
  /** Neither. */
  | { readonly kind: "other"; readonly bytes: number };

/** The most that one call reads, in bytes. */
const MAX_BYTES = 1_048_576;
const MAX_TEXT = 262_144;
const WAIT_MS = 60_000;
/** How much of a file tells whether it is text. */
const TELLING = 8_192;

/** Pictures that browsers draw, by the ends of their names. */
const PICTURES: Readonly<Record<string, string>> = {
  ...{ png: "png", jpg: "jpeg", jpeg: "jpeg", gif: "gif", webp: "webp", avif: "avif", bmp: "bmp" },
  ...{ ico: "x-icon", svg: "svg+xml" },
};

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

  /** A picture, or the beginning of a text. @throws {Error} */
  async read(path: string): Promise<FileContent> {
    const type = PICTURES[path.slice(path.lastIndexOf(".") + 1).toLowerCase()];
    if (type !== undefined) {
      const { output, isCut, fault } = await this.#run("base64", [path]);
      const url = `data:image/${type};base64,${output.replace(/\s/g, "")}`;
      if (fault === undefined && !isCut) return { kind: "picture", url };
    }
    const { output, isCut, fault } = await this.#run("head", ["-c", String(MAX_TEXT + 1), path]);
    if (fault !== undefined) throw new Error(fault);
    if (isText(output))
      return { kind: "text", text: output.slice(0, MAX_TEXT), isCut: isCut || output.length > MAX_TEXT };
    const { output: size } = await this.#run("wc", ["-c", path]);
    return { kind: "other", bytes: Number.parseInt(size, 10) };
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

/** Whether a file that begins so is text: without NUL, and almost all of it UTF-8. */
export function isText(beginning: string): boolean {
  const looked = beginning.slice(0, TELLING);
  return !looked.includes("\0") && looked.split("\ufffd").length - 1 <= looked.length / 50;
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
