// The tree of the files panel: which folders are open, and what is in them. No React.

import { Store } from "../ui/store.ts";
import type { Entry, FileCalls } from "./file-calls.ts";
import type { FileContent } from "./file-content.ts";
import { childPath, parentPath } from "./file-paths.ts";

type Folder =
  | { readonly kind: "reading" }
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "read"; readonly entries: readonly Entry[]; readonly isCut: boolean };

export type FileTreeState = {
  /** undefined: not known yet. */
  readonly root: string | undefined;
  /** The open folders, by path. */
  readonly folders: ReadonlyMap<string, Folder>;
  /** The marked paths: where the keyboard is, or what has just come. */
  readonly selected: readonly string[];
  readonly shown: Shown | undefined;
};

/** A file in the reader, without `content` until it has been read. */
export type Shown = { readonly path: string; readonly content?: FileContent | { readonly failed: string } };

/** A line of the tree. */
export type Row =
  | ({ readonly kind: "entry"; readonly path: string; readonly level: number; readonly isOpen: boolean } & Entry)
  | { readonly kind: "note"; readonly path: string; readonly level: number; readonly note: Note };

type Note = "reading" | "empty" | "cut" | { readonly failed: string };

export class FileTree extends Store<FileTreeState> {
  readonly #calls: Pick<FileCalls, "home" | "list" | "read">;

  constructor(calls: Pick<FileCalls, "home" | "list" | "read">) {
    super({ root: undefined, folders: new Map(), selected: [], shown: undefined });
    this.#calls = calls;
  }

  /** Shows this folder. @param root undefined: the one where sessions begin. */
  async go(root: string | undefined): Promise<void> {
    try {
      const path = root ?? (await this.#calls.home());
      this.change({ root: path, folders: new Map() });
      await this.#read(path);
    } catch (error) {
      this.change({ root: "/", folders: new Map([["/", failed(error)]]) });
    }
  }

  async toggle(path: string): Promise<void> {
    if (!this.state.folders.has(path)) return this.#read(path);
    const folders = new Map(this.state.folders);
    folders.delete(path);
    this.change({ folders });
  }

  /** Reads all open folders again. */
  async refresh(): Promise<void> {
    await Promise.all([...this.state.folders.keys()].map((path) => this.#read(path)));
  }

  select(...selected: readonly string[]): void {
    this.change({ selected });
  }

  /** Shows what has just come into a folder. */
  async reveal(paths: readonly string[]): Promise<void> {
    const folders = new Set([...this.state.folders.keys(), ...paths.map(parentPath)]);
    await Promise.all([...folders].map((path) => this.#read(path)));
    this.select(...paths);
  }

  /** Shows the beginning of a file. */
  async show(path: string): Promise<void> {
    const shown: Shown = { path };
    this.change({ shown });
    const content = await this.#calls.read(path).catch((error) => ({ failed: failed(error).reason }));
    // Closed meanwhile, or another is shown.
    if (this.state.shown === shown) this.change({ shown: { path, content } });
  }

  hide(): void {
    this.change({ shown: undefined });
  }

  dispose(): void {
    this.forgetListeners();
  }

  async #read(path: string): Promise<void> {
    if (!this.state.folders.has(path)) this.#set(path, { kind: "reading" });
    const folder = await this.#calls.list(path).then((listing) => ({ kind: "read", ...listing }) as const, failed);
    // Closed meanwhile.
    if (this.state.folders.has(path)) this.#set(path, folder);
  }

  #set(path: string, folder: Folder): void {
    this.change({ folders: new Map(this.state.folders).set(path, folder) });
  }
}

function failed(error: unknown): Extract<Folder, { kind: "failed" }> {
  return { kind: "failed", reason: error instanceof Error ? error.message : String(error) };
}

/** The lines to draw, from top to bottom. */
export function rowsOf({ root, folders }: Pick<FileTreeState, "root" | "folders">, path = root, level = 1): Row[] {
  const folder = path === undefined ? undefined : folders.get(path);
  if (path === undefined || folder === undefined) return [];
  const note = (note: Note): Row => ({ kind: "note", path: `${path}\n`, level, note });
  if (folder.kind === "reading") return [note("reading")];
  if (folder.kind === "failed") return [note({ failed: folder.reason })];
  if (folder.entries.length === 0) return [note("empty")];
  const rows = folder.entries.flatMap((entry): Row[] => {
    const inside = childPath(path, entry.name);
    const isOpen = entry.isFolder && folders.has(inside);
    const row: Row = { kind: "entry", path: inside, level, isOpen, ...entry };
    return isOpen ? [row, ...rowsOf({ root, folders }, inside, level + 1)] : [row];
  });
  return folder.isCut ? [...rows, note("cut")] : rows;
}
