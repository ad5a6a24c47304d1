// Rewrites an untrusted archive, member by member, so that it writes and links nothing outside its one folder, whatever program
// unpacks it. Bounded memory; knows no file system.

import { fromLatin1 } from "../text/latin1.ts";
import { decodeUtf8 } from "../text/utf8-text.ts";
import { type TarMember, TarReader } from "./tar-reader.ts";
import { tarEnd, tarHeader, tarPadding } from "./tar-writer.ts";

/** Longer than any file's path. */
const MAX_NAME_BYTES = 4096;
/** Memory for the names of links, and again for those of files. */
const MAX_NAMES_BYTES = 16_777_216;
const NAME_BYTES = 64;
/** Mode of a folder that the archive does not list. */
const FOLDER_MODE = 0o755;

export type WhyLeftOut =
  /** The member's name or its link's target leads out of the folder. */
  | "leads-out"
  /** A link in the archive has its name, or that of a parent folder. */
  | "below-link"
  /** The target of a hard link is not in the archive. */
  | "not-in-archive"
  /** A device, a pipe, or a sparse file. */
  | "special"
  /** The name is missing or too long. */
  | "no-name"
  /** More links than are remembered. */
  | "too-many-links";

export type TarFilterPorts = {
  /** The bytes are borrowed. */
  write(bytes: Uint8Array): void;
  /** @param name Bytes, one per character. */
  leftOut(name: string, why: WhyLeftOut): void;
};

export class TarFilter {
  readonly #top: string;
  readonly #ports: TarFilterPorts;
  readonly #reader: TarReader;
  readonly #links = new LinkTree((part) => part);
  /** Links by folded name, as file systems find them that ignore case and the like. */
  readonly #alike = new LinkTree(foldedName);
  readonly #files = new Set<string>();
  #filesLeft = MAX_NAMES_BYTES;
  /** The last folder written. */
  #folder: readonly string[] | undefined;
  /** Size of the current file; undefined if it is left out. */
  #size: number | undefined;

  /** @param top The folder that receives all members; bytes, one per character. */
  constructor(top: string, ports: TarFilterPorts) {
    this.#top = top;
    this.#ports = ports;
    this.#reader = new TarReader({
      member: (member) => this.#member(member),
      bytes: (bytes) => this.#size !== undefined && ports.write(bytes),
      memberEnd: () => {
        if (this.#size !== undefined) ports.write(tarPadding(this.#size));
        this.#size = undefined;
      },
    });
  }

  /** @throws {TarFault} */
  push(chunk: Uint8Array): void {
    this.#reader.push(chunk);
  }

  /** Writes the end. @returns Whether the archive was complete; if not, the output must not be used. */
  end(): boolean {
    if (this.#reader.isWhole) this.#ports.write(tarEnd());
    return this.#reader.isWhole;
  }

  #member(member: TarMember): void {
    const why = this.#pass(member);
    if (why !== undefined) this.#ports.leftOut(member.name.slice(0, MAX_NAME_BYTES), why);
  }

  /** @returns Why the member is left out; undefined if it is not. */
  #pass(member: TarMember): WhyLeftOut | undefined {
    const { name, kind, target, size, stored } = member;
    if (kind === "other" || size !== stored) return "special";
    if (name.length > MAX_NAME_BYTES || target.length > MAX_NAME_BYTES) return "no-name";
    const parts = partsOf(name);
    if (parts === undefined) return "leads-out";
    if (parts.length === 0 && kind !== "folder") return "no-name";
    if (this.#links.leads(parts)) return "below-link";
    switch (kind) {
      case "folder":
        if (parts.length > 0) this.#folders(parts.slice(0, -1), member);
        this.#folder = parts;
        this.#write(parts, member);
        return undefined;
      case "file":
        this.#size = size;
        this.#remember(parts);
        break;
      case "link":
        if (target === "" || leadsTo(parts, target, 0) === undefined) return "leads-out";
        if (this.#alike.touches(parts)) return "below-link";
        if (!this.#links.add(parts) || !this.#alike.add(parts)) return "too-many-links";
        break;
      case "hard link": {
        const to = partsOf(target);
        if (to === undefined) return "leads-out";
        if (!this.#files.has(to.join("/")) || this.#alike.leads(to)) return "not-in-archive";
        this.#folders(parts.slice(0, -1), member);
        this.#write(parts, member, this.#pathOf(to));
        return undefined;
      }
    }
    this.#folders(parts.slice(0, -1), member);
    this.#write(parts, member, target);
    return undefined;
  }

  /** Writes a member's folders: each replaces a link of an earlier archive in its place, through which files would be written. */
  #folders(parts: readonly string[], { modifiedAt }: TarMember): void {
    const last = this.#folder;
    const same = parts.findIndex((part, index) => part !== last?.[index]);
    for (
      let depth = last === undefined ? 0 : (same === -1 ? parts.length : same) + 1;
      depth <= parts.length;
      depth += 1
    ) {
      const folder = { kind: "folder", size: 0, mode: FOLDER_MODE, modifiedAt } as const;
      this.#write(parts.slice(0, depth), folder);
    }
    this.#folder = parts;
  }

  #write(
    parts: readonly string[],
    member: Pick<TarMember, "size" | "mode" | "modifiedAt" | "kind">,
    target = "",
  ): void {
    const { kind, size, mode, modifiedAt } = member;
    if (kind === "other") return;
    this.#ports.write(tarHeader({ name: this.#pathOf(parts), kind, target, size, mode: mode & KEPT_MODE, modifiedAt }));
  }

  #remember(parts: readonly string[]): void {
    const path = parts.join("/");
    this.#filesLeft -= path.length + NAME_BYTES;
    if (this.#filesLeft >= 0) this.#files.add(path);
  }

  #pathOf(parts: readonly string[]): string {
    return ["./", this.#top, ...parts.map((part) => `/${part}`)].join("");
  }
}

type Step = Map<string, Step>;

/** Paths of links, by folder. A step with no children is a link. */
class LinkTree {
  readonly #keyOf: (part: string) => string;
  readonly #root: Step = new Map();
  #left = MAX_NAMES_BYTES;

  constructor(keyOf: (part: string) => string) {
    this.#keyOf = keyOf;
  }

  /** Whether `parts` or one of its folders is a link. */
  leads(parts: readonly string[]): boolean {
    return this.#root.size > 0 && this.#walk(parts).step.size === 0;
  }

  /** Whether `parts` is a link, or is inside one or has one inside. */
  touches(parts: readonly string[]): boolean {
    const { step, depth } = this.#walk(parts);
    return this.#root.size > 0 && (step.size === 0 || depth === parts.length);
  }

  /** @returns Whether there was room. */
  add(parts: readonly string[]): boolean {
    const { step: last, depth } = this.#walk(parts);
    const keys = parts.slice(depth).map(this.#keyOf);
    const bytes = keys.reduce((sum, key) => sum + key.length + NAME_BYTES, 0);
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    let step = last;
    for (const key of keys) {
      const next: Step = new Map();
      step.set(key, next);
      step = next;
    }
    return true;
  }

  /** Walks as far as there are steps, or to a link. */
  #walk(parts: readonly string[]): { step: Step; depth: number } {
    let step = this.#root;
    let depth = 0;
    for (const part of parts) {
      const next = step.get(this.#keyOf(part));
      if (next === undefined) break;
      step = next;
      depth += 1;
    }
    return { step, depth };
  }
}

/** Removes differences of case and Unicode form, and trailing blanks and dots. */
function foldedName(part: string): string {
  const text = decodeUtf8(fromLatin1(part)).normalize("NFKC").toUpperCase().toLowerCase().normalize("NFKC");
  let end = text.length;
  while (text[end - 1] === "." || text[end - 1] === " ") end -= 1;
  return text.slice(0, end);
}

/** setuid and setgid are never kept, nor is the owner, with whose rights the file would run. */
export const KEPT_MODE = 0o777;

/** Some systems treat a backslash as a slash. */
const LEADS_UP = /(?:^|[\\/])\.\.(?:[\\/]|$)/;
/** A path from the root, or from a drive of such a system. */
const FROM_ROOT = /^(?:[\\/]|[a-z]:)/i;

/** The path's parts below the root; undefined if it leads elsewhere. */
export function partsOf(name: string): readonly string[] | undefined {
  if (name.startsWith("/") || LEADS_UP.test(name)) return undefined;
  return name.split("/").filter((part) => part !== "" && part !== ".");
}

/**
 * Where a symbolic link leads, below the root. `..` is allowed only at the start: after a name, which may be a link, it could
 * lead anywhere.
 * @param parts The link's own path. None of its folders may be a link.
 * @param kept The link may not lead out of this many of its first folders.
 * @returns undefined if it leads outside.
 */
export function leadsTo(parts: readonly string[], target: string, kept: number): readonly string[] | undefined {
  if (FROM_ROOT.test(target)) return undefined;
  const steps = target.split("/").filter((step) => step !== "" && step !== ".");
  const up = steps.findIndex((step) => step !== "..");
  const ups = up === -1 ? steps.length : up;
  const names = steps.slice(ups);
  if (LEADS_UP.test(names.join("/")) || ups > parts.length - 1 - kept) return undefined;
  return [...parts.slice(0, parts.length - 1 - ups), ...names];
}
