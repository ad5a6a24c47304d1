// The files panel's tree: what `find` printed, and the lines that are drawn.

import { expect, test } from "vitest";
import { type FileCalls, isText, type Listing, readEntries } from "../../src/transfer/file-calls.ts";
import { FileTree, parentPath, type Row, rowsOf } from "../../src/transfer/file-tree.ts";

test("folders come first, numbers count, odd names are whole, and a name that is cut off is left out", () => {
  const output = ["f/a/x10", "f/a/x9", "d/a/b", "f/a/-rf", "f/a/two\nlines", "d/a/.git", "f/a/cut o"].join("\0");
  expect(readEntries(output)).toEqual([
    { name: ".git", isFolder: true },
    { name: "b", isFolder: true },
    { name: "-rf", isFolder: false },
    { name: "two\nlines", isFolder: false },
    { name: "x9", isFolder: false },
    { name: "x10", isFolder: false },
  ]);
  expect(readEntries("")).toEqual([]);
});

/** Folders that a test changes, as calls would list them. */
class Disk implements Pick<FileCalls, "home" | "list" | "read"> {
  readonly folders = new Map<string, Listing | Error>();
  home = () => Promise.resolve("/home");
  list = async (path: string): Promise<Listing> => {
    const found = this.folders.get(path) ?? new Error(`${path}: gone`);
    if (found instanceof Error) throw found;
    return found;
  };
  read = (path: string) => Promise.resolve({ kind: "text", text: `text of ${path}`, isCut: false } as const);
}

const listing = (...names: string[]): Listing => ({
  entries: names.map((name) => ({ name: name.replace("/", ""), isFolder: name.endsWith("/") })),
  isCut: false,
});
const drawn = (tree: FileTree) =>
  rowsOf(tree.getState()).map((row: Row) => {
    const indent = " ".repeat(row.level);
    if (row.kind === "note") return `${indent}(${typeof row.note === "object" ? row.note.failed : row.note})`;
    return `${indent}${row.path}${row.isFolder ? (row.isOpen ? " v" : " >") : ""}`;
  });

test("opens, closes and refreshes folders; what can't be read is said in its place, and the root's parent is shown by name", async () => {
  const disk = new Disk();
  disk.folders.set("/home", listing("a/", "b"));
  disk.folders.set("/home/a", { ...listing("c/"), isCut: true });
  disk.folders.set("/home/a/c", listing());
  const tree = new FileTree(disk);
  await tree.go(undefined);
  expect(drawn(tree)).toEqual([" /home/a >", " /home/b"]);
  await tree.toggle("/home/a");
  await tree.toggle("/home/a/c");
  expect(drawn(tree)).toEqual([" /home/a v", "  /home/a/c v", "   (empty)", "  (cut)", " /home/b"]);

  disk.folders.set("/home", listing("a/", "new"));
  disk.folders.set("/home/a/c", new Error("Permission denied"));
  await tree.refresh();
  expect(drawn(tree)).toEqual([" /home/a v", "  /home/a/c v", "   (Permission denied)", "  (cut)", " /home/new"]);
  await tree.toggle("/home/a");
  expect(drawn(tree)).toEqual([" /home/a >", " /home/new"]);

  disk.folders.set("/", listing("home/"));
  await tree.go(parentPath("/home"));
  expect(drawn(tree)).toEqual([" /home >"]);
  await tree.go("/nowhere");
  expect(drawn(tree)).toEqual([" (/nowhere: gone)"]);
  await tree.show("/home/b");
  expect(tree.getState().shown).toEqual({ path: "/home/b", content: await disk.read("/home/b") });
});

test("a file with a NUL, or hardly any UTF-8, is no text; one with a stray byte is", () => {
  expect(isText("")).toBe(true);
  expect(isText(`caf\ufffd, as Latin-1 has it. ${"More of it. ".repeat(20)}`)).toBe(true);
  expect(isText("\ufffdPNG\r\n\u001a\n")).toBe(false);
  expect(isText("ELF\0")).toBe(false);
});
