// The files panel's tree: what `find` printed, and the lines that are drawn.

import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type FileCalls, LIST, type Listing, readListing } from "../../src/transfer/file-calls.ts";
import type { FileContent } from "../../src/transfer/file-content.ts";
import { parentPath } from "../../src/transfer/file-paths.ts";
import { FileTree, type Row, rowsOf } from "../../src/transfer/file-tree.ts";

test("folders come first, numbers count, odd names are whole, and a name that is cut off is left out", () => {
  const facts = [
    "-rw-r--r-- 1 0 0 12 Nov 30 01:40 /a/x9",
    "-rwxr-xr-x+  1 501 20  3000000 Feb  3  2025 /a/x10",
    "-rw-r--r-- 1 0 0 7 Nov 30 01:40 /a/two",
    "lines",
    "//",
  ].join("\n");
  const output = [facts, "f/a/x10", "f/a/x9", "d/a/b", "f/a/-rf", "f/a/two\nlines", "d/a/.git", "f/a/cut o"].join("\0");
  expect(readListing(output)).toEqual({
    entries: [
      { name: ".git", isFolder: true },
      { name: "b", isFolder: true },
      { name: "-rf", isFolder: false },
      { name: "two\nlines", isFolder: false },
      { name: "x9", isFolder: false, facts: { bytes: 12, date: "Nov 30 01:40" } },
      { name: "x10", isFolder: false, facts: { bytes: 3_000_000, date: "Feb  3  2025" } },
    ],
    isCut: false,
  });
  expect(readListing("//\0")).toEqual({ entries: [], isCut: false });
  // The log is full: of what came first there is nothing.
  expect(readListing("/cut o\0f/a/x\0")).toEqual({ entries: [{ name: "x", isFolder: false }], isCut: true });
});

test("a real shell lists names of all kinds, and sizes of files", async () => {
  const home = await mkdtemp(join(tmpdir(), "sbx-files-"));
  onTestFinished(() => rm(home, { recursive: true }));
  await mkdir(join(home, "folder"));
  for (const name of ["-rf", "a b.txt", "two\nlines"]) await writeFile(join(home, name), "12345");
  await symlink("folder", join(home, "linked"));
  await symlink("nowhere", join(home, "broken"));
  const { entries, isCut } = readListing(execFileSync("sh", ["-c", LIST, home]).toString());
  expect(isCut).toBe(false);
  expect(entries.map(({ name, isFolder, facts }) => [name, isFolder, facts?.bytes])).toEqual([
    ["folder", true, undefined],
    ["linked", true, undefined],
    ["-rf", false, 5],
    ["a b.txt", false, 5],
    ["broken", false, undefined],
    ["two\nlines", false, undefined],
  ]);
  expect(readListing(execFileSync("sh", ["-c", LIST, join(home, "folder")]).toString()).entries).toEqual([]);
});

const content = (shown: string): FileContent => ({
  bytes: shown.length,
  date: "Nov 30 01:40",
  text: { shown, bytes: shown.length },
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
  read: FileCalls["read"] = (path) => Promise.resolve(content(`text of ${path}`));
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

test("what is uploaded is shown where it is, and marked: its folder opens", async () => {
  const disk = new Disk();
  disk.folders.set("/home", listing("a/", "b"));
  disk.folders.set("/home/a", listing("new", "new-2"));
  const tree = new FileTree(disk);
  await tree.go(undefined);
  await tree.reveal(["/home/a/new", "/home/a/new-2"]);
  expect(drawn(tree)).toEqual([" /home/a v", "  /home/a/new", "  /home/a/new-2", " /home/b"]);
  expect(tree.getState().selected).toEqual(["/home/a/new", "/home/a/new-2"]);
  tree.select("/home/b");
  expect(tree.getState().selected).toEqual(["/home/b"]);
});

test("a file that was closed, or left for another, while it was read does not come back", async () => {
  const disk = new Disk();
  const answers = new Map<string, (content: FileContent) => void>();
  disk.read = (path) => new Promise((resolve) => answers.set(path, resolve));
  const tree = new FileTree(disk);
  const first = tree.show("/a");
  expect(tree.getState().shown).toEqual({ path: "/a" });
  const second = tree.show("/b");
  answers.get("/a")?.(content("of a"));
  await first;
  expect(tree.getState().shown).toEqual({ path: "/b" });
  tree.hide();
  answers.get("/b")?.(content("of b"));
  await second;
  expect(tree.getState().shown).toBeUndefined();
});
