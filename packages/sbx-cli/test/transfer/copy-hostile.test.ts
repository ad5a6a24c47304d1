// Copies out of a sandbox that packs what it likes, and what copies do to what is there, on either side: real tar, real shells, no network.

import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  closeSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { beforeEach, describe, expect, test } from "vitest";
import { streamIn } from "../../src/transfer/copy.ts";
import { copyIn } from "../../src/transfer/copy-in.ts";
import { copyOut } from "../../src/transfer/copy-out.ts";
import type { Part, Remote } from "../../src/transfer/copy-process.ts";
import { scratch } from "../fixture/cli.ts";

/** A person's home, with what nobody may touch; a folder in it to copy into; and the sandbox's own. */
let home: string;
let here: string;
let there: string;
beforeEach(() => {
  home = scratch();
  here = join(home, "work");
  there = scratch();
  mkdirSync(here);
  mkdirSync(join(home, ".ssh"));
  writeFileSync(join(home, ".bashrc"), "mine");
  writeFileSync(join(home, ".ssh/id_rsa"), "secret", { mode: 0o600 });
});

const DONE = { kind: "exit", code: 0 };
const NOBODY = 65_534;
const FAILED = { kind: "exit", code: 255 };

/** The sandbox's shell. @param packed What its tar prints, whatever it is asked for. @param bin Programs that it finds first. */
function sandbox(packed?: string, bin = scratch()): Remote {
  if (packed !== undefined) {
    const program = `#!/bin/sh\ncase $1 in --version) echo GNU ;; *) cat ${packed} ;; esac\n`;
    writeFileSync(join(bin, "tar"), program, { mode: 0o755 });
  }
  return (script, args, { hasInput = false } = {}) =>
    spawn("sh", ["-c", script, "sh", ...args], {
      cwd: there,
      env: { ...process.env, PATH: `${bin}:${process.env.PATH}` },
      stdio: [hasInput ? "pipe" : "ignore", "pipe", "pipe"],
    });
}

function part(names: readonly string[], to: string, more: Partial<Part> = {}): Part {
  return { folder: there, names, to, isResumed: false, keepsModes: false, what: "it", ...more };
}

const out = (names: readonly string[], to: string, more?: Partial<Part>, packed?: string) =>
  copyOut(part(names, to, more), sandbox(packed));
const into = (names: readonly string[], to: string, more?: Partial<Part>) =>
  copyIn(part(names, to, { folder: here, ...more }), sandbox());

/** An archive of these members of a folder, by GNU's tar. */
function packedOf(folder: string, ...words: string[]): string {
  const file = join(scratch(), "packed");
  execFileSync("tar", ["-P", "-cf", file, "--no-recursion", "-C", folder, ...words]);
  return file;
}

/** A file and a folder with a time of pax's that no file has, a link without a target, and one good file. */
function oddArchive(): Buffer {
  const member = (name: string, type: string, body: string) => {
    const block = Buffer.alloc(512);
    block.write(name);
    block.write("0000755", 100);
    block.write(body.length.toString(8).padStart(11, "0"), 124);
    block.write(`        ${type}`, 148);
    const sum = block.reduce((total, byte) => total + byte, 0);
    block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
    return Buffer.concat([block, Buffer.from(body), Buffer.alloc(-body.length & 511)]);
  };
  const never = member("time", "x", "18 mtime=Infinity\n");
  const parts = [member("tree", "5", ""), never, member("tree/deep", "5", ""), never, member("tree/file", "0", "x")];
  return Buffer.concat([...parts, member("tree/link", "2", ""), member("tree/last", "0", "y"), Buffer.alloc(1_024)]);
}

/** Root may write everywhere: what it runs here, it runs as nobody, whose the folders are then. */
async function asAnybody(run: () => Promise<void>): Promise<void> {
  if (process.getuid?.() !== 0) return run();
  chmodSync(dirname(home), 0o711);
  execFileSync("chown", ["-R", String(NOBODY), home, there]);
  process.seteuid?.(NOBODY);
  try {
    await run();
  } finally {
    process.seteuid?.(0);
  }
}

function put(root: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(root, name, ".."), { recursive: true });
    writeFileSync(join(root, name), text);
  }
}

/** As /dev/full. Root, who could lose the machine's own if this fails, gets another. */
function fullDevice(folder: string): string {
  if (process.getuid?.() !== 0) return "/dev/full";
  execFileSync("mknod", [join(folder, "full"), "c", "1", "7"]);
  return join(folder, "full");
}

/** Nothing outside of the folder that is copied into has changed. */
function expectHomeAsItWas(): void {
  expect(readdirSync(home).sort()).toEqual([".bashrc", ".ssh", "work"]);
  expect(readFileSync(join(home, ".bashrc"), "utf8")).toBe("mine");
  expect(readdirSync(join(home, ".ssh"))).toEqual(["id_rsa"]);
  const { nlink, mode, size } = statSync(join(home, ".ssh/id_rsa"));
  expect([nlink, mode & 0o7777, size]).toEqual([1, 0o600, 6]);
}

describe("an archive of the sandbox's own making", () => {
  test.each([false, true])(
    "a member below a link that an earlier copy brought is not written (resumed: %s)",
    async (isResumed) => {
      put(there, { "proj/a": "a", "proj/link/.bashrc": "theirs" });
      mkdirSync(join(here, "proj"));
      symlinkSync(home, join(here, "proj/link"));
      const packed = packedOf(there, "./proj", "./proj/a", "./proj/link/.bashrc");
      expect(await out(["proj"], here, { isResumed }, packed)).toEqual(FAILED);
      // What is not in the way has come.
      expect(readFileSync(join(here, "proj/a"), "utf8")).toBe("a");
      expect(readlinkSync(join(here, "proj/link"))).toBe(home);
      expect(readdirSync(here)).toEqual(["proj"]);
      expectHomeAsItWas();
    },
  );

  test("a link and a member below it in one archive: neither leads out", async () => {
    const other = scratch();
    put(other, { "proj/link/.bashrc": "theirs", "proj/own/x": "x", "proj/own/y": "y" });
    put(there, { "proj/a": "a" });
    symlinkSync("../..", join(there, "proj/link"));
    symlinkSync("a", join(there, "proj/own"));
    const packed = packedOf(
      there,
      "./proj",
      "./proj/link",
      "./proj/own",
      "-C",
      other,
      "./proj/link/.bashrc",
      "./proj/own/x",
    );
    expect(await out(["proj"], here, {}, packed)).toEqual(FAILED);
    expect(readlinkSync(join(here, "proj/own"))).toBe("a");
    expect(readFileSync(join(here, "proj/link/.bashrc"), "utf8")).toBe("theirs");
    expectHomeAsItWas();
  });

  test("links that stay inside are kept, those that lead out are left out and said", async () => {
    put(there, { "proj/bin/a": "a", "proj/lib/b": "b" });
    const links = {
      "proj/good": "bin/a",
      "proj/bin/good": "../lib/./b",
      "proj/bin/none": "nothing-yet",
      "proj/absolute": home,
      "proj/up": "../.bashrc",
      "proj/bin/up": "../../proj/lib/b",
      "proj/bin/back": "good/../../../.bashrc",
    };
    for (const [name, target] of Object.entries(links)) symlinkSync(target, join(there, name));
    const found = (root: string) =>
      Object.keys(links).filter((name) => lstatSync(join(root, name.slice(5)), { throwIfNoEntry: false }));
    expect(await out(["proj"], join(here, "new"))).toEqual(FAILED);
    expect(found(join(here, "new"))).toEqual(["proj/good", "proj/bin/good", "proj/bin/none"]);
    expect(readlinkSync(join(here, "new/bin/good"))).toBe("../lib/./b");
    expect(await out(["proj"], here)).toEqual(FAILED);
    // Here its own name is its own.
    expect(found(join(here, "proj"))).toEqual(["proj/good", "proj/bin/good", "proj/bin/none", "proj/bin/up"]);
    // A link alone leads out of itself; of two, one may lead to the other.
    symlinkSync("proj", join(there, "link"));
    expect(await out(["link"], here)).toEqual(FAILED);
    expect(await out(["link", "proj"], here)).toEqual(FAILED);
    expect(readdirSync(here).sort()).toEqual(["link", "new", "proj"]);
  });

  test("a hard link reaches nothing that was not asked for, and nothing through a link", async () => {
    put(there, { ".ssh/id_rsa": "x", "proj/a": "a" });
    linkSync(join(there, ".ssh/id_rsa"), join(there, "proj/key"));
    linkSync(join(there, "proj/a"), join(there, "proj/b"));
    const packed = packedOf(there, "./.ssh/id_rsa", "./proj", "./proj/key", "./proj/a", "./proj/b");
    expect(await out(["proj"], `${home}/`, {}, packed)).toEqual(FAILED);
    expect(readdirSync(join(home, "proj")).sort()).toEqual(["a", "b"]);
    expect(statSync(join(home, "proj/a")).ino).toBe(statSync(join(home, "proj/b")).ino);
    execFileSync("rm", ["-r", join(home, "proj")]);
    expectHomeAsItWas();
    const other = scratch();
    put(other, { "proj/link/id_rsa": "x" });
    linkSync(join(other, "proj/link/id_rsa"), join(other, "proj/key"));
    mkdirSync(join(here, "proj"));
    symlinkSync(join(home, ".ssh"), join(here, "proj/link"));
    const through = packedOf(other, "./proj/link/id_rsa", "./proj/key");
    // The first of both stays behind: `delete` finds it by its name.
    execFileSync("tar", ["-f", through, "--delete", "./proj/link/id_rsa"]);
    expect(await out(["proj"], here, {}, through)).toEqual(FAILED);
    expect(readdirSync(join(here, "proj"))).toEqual(["link"]);
    expectHomeAsItWas();
  });

  test("names that are absolute or lead upwards are left out", async () => {
    put(there, { "proj/a": "a", ".bashrc": "theirs" });
    const name = ["--transform", `s,^./proj/a,${home}/absolute,;s,^./.bashrc,./proj/../../.bashrc,`];
    const packed = packedOf(there, ...name, "./proj", "./proj/a", "./.bashrc");
    for (const names of [["proj"], ["."]]) expect(await out(names, `${here}/`, {}, packed)).toEqual(FAILED);
    expect(readdirSync(here)).toEqual(["proj"]);
    expectHomeAsItWas();
  });

  test("devices and pipes are left out; setuid, setgid and owners are not kept, also with -p", async () => {
    put(there, { "proj/run": "x" });
    chmodSync(join(there, "proj/run"), 0o6777);
    mkdirSync(join(there, "proj/set"));
    chmodSync(join(there, "proj/set"), 0o6757);
    execFileSync("mkfifo", [join(there, "proj/pipe")]);
    const members = ["./proj", "./proj/run", "./proj/set", "./proj/pipe"];
    const packed = packedOf(
      there,
      "--owner=:12345",
      ...members,
      "-C",
      "/dev",
      "--transform",
      "s,^./null,./proj/null,",
      "./null",
    );
    const umask = process.umask(0o027);
    for (const keepsModes of [false, true]) {
      const to = join(here, String(keepsModes));
      expect(await out(["proj"], to, { keepsModes }, packed)).toEqual(FAILED);
      const kept = ["run", "set"].map((name) => statSync(join(to, name)).mode & 0o7777);
      expect(kept).toEqual(keepsModes ? [0o777, 0o757] : [0o750, 0o750]);
      expect(statSync(join(to, "run")).uid).toBe(process.getuid?.());
      expect(readdirSync(to).sort()).toEqual(["run", "set"]);
    }
    process.umask(umask);
  });

  test("a time that no file has, and a link that leads nowhere, cost no other member", async () => {
    writeFileSync(join(there, "packed"), oddArchive());
    mkdirSync(join(there, "tree"));
    expect(await out(["tree"], `${here}/`, {}, join(there, "packed"))).toEqual(FAILED);
    expect(readdirSync(join(here, "tree")).sort()).toEqual(["deep", "file", "last"]);
    expect(statSync(join(here, "tree/file")).mtime.getUTCFullYear()).toBeGreaterThan(2_100);
  });

  test("a link in the place of the folder of our own is not followed, on either side", async () => {
    put(there, { proj: "x" });
    put(here, { given: "y" });
    symlinkSync(join(home, ".ssh"), join(here, ".proj.sbx-cp"));
    symlinkSync(join(home, ".ssh"), join(here, ".new.sbx-cp"));
    for (const isResumed of [false, true]) {
      expect(await out(["proj"], here, { isResumed })).toEqual(DONE);
      expect(await out(["proj"], join(here, "new"), { isResumed })).toEqual(DONE);
    }
    symlinkSync(join(home, ".ssh"), join(there, ".given.sbx-cp"));
    for (const isResumed of [true, false]) expect(await into(["given"], there, { isResumed })).toEqual(DONE);
    expect([readdirSync(here).sort(), readdirSync(there).sort()]).toEqual([
      ["given", "new", "proj"],
      ["given", "proj"],
    ]);
    expectHomeAsItWas();
  });

  test("a link that takes the place of the folder of our own just after it was made is not entered", async () => {
    put(here, { given: "theirs" });
    const bin = scratch();
    const swap = `case $* in *.sbx-cp) for last; do :; done; rmdir "$last" && ln -s ${join(home, ".ssh")} "$last" ;; esac`;
    writeFileSync(join(bin, "mkdir"), `#!/bin/sh\n/bin/mkdir "$@" || exit\n${swap}\n`, { mode: 0o755 });
    expect(await copyIn(part(["given"], there, { folder: here }), sandbox(undefined, bin))).toEqual(FAILED);
    expect(readdirSync(there)).toEqual([".given.sbx-cp"]);
    expectHomeAsItWas();
  });

  test("another user's folder in the place of our own is no copy to go on with", async () => {
    put(here, { "proj/a": "mine", "proj/b": "b" });
    put(there, { ".proj.sbx-cp/proj/a": "evil", ".proj.sbx-cp/proj/evil": "evil" });
    // The same size and time as the one that is to come.
    const { atime, mtime } = statSync(join(here, "proj/a"));
    utimesSync(join(there, ".proj.sbx-cp/proj/a"), atime, mtime);
    const isRoot = process.getuid?.() === 0;
    // To who is not root, none but its own can be shown.
    if (isRoot) execFileSync("chown", ["-R", String(NOBODY), join(there, ".proj.sbx-cp")]);
    expect(await into(["proj"], there, { isResumed: true })).toEqual(DONE);
    expect(readdirSync(join(there, "proj")).sort()).toEqual(isRoot ? ["a", "b"] : ["a", "b", "evil"]);
    expect(readFileSync(join(there, "proj/a"), "utf8")).toBe(isRoot ? "mine" : "evil");
  });

  test("an archive that breaks off, between two members or in one, changes nothing", async () => {
    put(there, { "proj/a": "x".repeat(2_000), "proj/b": "b" });
    put(here, { "proj/a": "old" });
    const whole = packedOf(there, "./proj", "./proj/a", "./proj/b");
    for (const bytes of [512, 1_536, 3_584, 4_096]) {
      const cut = join(scratch(), "cut");
      writeFileSync(cut, readFileSync(whole).subarray(0, bytes));
      await expect(out(["proj"], here, {}, cut)).rejects.toThrow("is truncated");
      await expect(out(["proj"], join(here, "new"), {}, cut)).rejects.toThrow("is truncated");
    }
    expect(readFileSync(join(here, "proj/a"), "utf8")).toBe("old");
    expect(readdirSync(here).filter((name) => !name.startsWith("."))).toEqual(["proj"]);
    writeFileSync(whole, "x".repeat(512));
    await expect(out(["proj"], here, {}, whole)).rejects.toThrow("not a tar archive");
  });
});

describe.each(["out", "in"] as const)("what is there, where a copy goes %s", (way) => {
  /** From `from` to `to`, whichever side that is. */
  let from: string;
  let to: string;
  const copy = (names: readonly string[], target: string, more?: Partial<Part>) =>
    way === "out" ? out(names, target, more) : into(names, target, more);
  beforeEach(() => {
    [from, to] = way === "out" ? [there, here] : [here, there];
  });

  test("a file that is there is written into: it keeps its node, mode, owner and other names", async () => {
    put(from, { file: "new", "dir/file": "new", "dir/more": "more" });
    put(to, { file: "the old words", "dir/file": "old", other: "old" });
    for (const name of ["file", "dir/file"]) {
      chmodSync(join(to, name), 0o640);
      linkSync(join(to, name), join(to, `${name}-too`));
    }
    symlinkSync("other", join(to, "link"));
    const before = ["file", "dir/file", "other"].map((name) => statSync(join(to, name)).ino);
    expect(await copy(["file"], join(to, "file"))).toEqual(DONE);
    expect(await copy(["file", "dir"], `${to}/`)).toEqual(DONE);
    expect(await copy(["file"], join(to, "link"))).toEqual(DONE);
    for (const name of ["file", "file-too", "dir/file", "dir/file-too", "other"])
      expect(readFileSync(join(to, name), "utf8")).toBe("new");
    expect(["file", "dir/file", "other"].map((name) => statSync(join(to, name)).ino)).toEqual(before);
    expect([statSync(join(to, "file")).mode & 0o7777, readlinkSync(join(to, "link"))]).toEqual([0o640, "other"]);
    expect(readdirSync(to).sort()).toEqual(["dir", "file", "file-too", "link", "other"]);
    expect(statSync(join(to, "dir/file")).mtimeMs / 1_000).toBe(
      Math.floor(statSync(join(from, "dir/file")).mtimeMs / 1_000),
    );
  });

  test("a folder, a file and a link's target whose names end in a new line are those", async () => {
    put(from, { file: "new" });
    put(to, { "dir\n/x": "x", real: "old", "real\n": "old", taken: "old" });
    symlinkSync("real\n", join(to, "link"));
    expect(await copy(["file"], join(to, "dir\n/new\n"))).toEqual(DONE);
    expect(await copy(["file"], join(to, "link"))).toEqual(DONE);
    const texts = ["dir\n/new\n", "real\n", "real"].map((name) => readFileSync(join(to, name), "utf8"));
    expect(texts).toEqual(["new", "new", "old"]);
    expect(readdirSync(to).sort()).toEqual(["dir\n", "link", "real", "real\n", "taken"]);
  });

  test("a device stays one, a pipe gets the bytes, and a link to nothing is said", async () => {
    put(from, { file: "words" });
    const device = fullDevice(to);
    const full = lstatSync(device);
    const written = copy(["file"], device);
    await (way === "out" ? expect(written).rejects.toThrow("ENOSPC") : expect(written).resolves.toEqual(FAILED));
    expect(lstatSync(device)).toMatchObject({ rdev: full.rdev, mode: full.mode, ino: full.ino });
    execFileSync("mkfifo", [join(to, "pipe")]);
    const reader = spawn("cat", [join(to, "pipe")]);
    const read = new Promise((resolve) => reader.stdout.once("data", (bytes) => resolve(String(bytes))));
    expect(await copy(["file"], join(to, "pipe"))).toEqual(DONE);
    expect(await read).toBe("words");
    symlinkSync("nothing", join(to, "link"));
    const nowhere = copy(["file"], join(to, "link"));
    await (way === "out"
      ? expect(nowhere).rejects.toThrow("broken symlink")
      : expect(nowhere).resolves.toEqual(FAILED));
    expect(
      readdirSync(to)
        .filter((name) => name !== "full")
        .sort(),
    ).toEqual(["link", "pipe"]);
  });

  test("a link in the place of a file or a folder is not written through, nor a folder replaced", async () => {
    put(from, { "dir/a": "a", "dir/sub/b": "b", "dir/c/x": "c", "dir/d": "d", file: "f" });
    put(to, { "dir/c": "file", "dir/d/x": "folder" });
    symlinkSync(join(home, ".bashrc"), join(to, "dir/a"));
    symlinkSync(home, join(to, "dir/sub"));
    symlinkSync(join(home, ".bashrc"), join(to, "file"));
    expect(await copy(["dir", "file"], to)).toEqual(FAILED);
    expect(["dir/a", "dir/sub", "file"].map((name) => lstatSync(join(to, name)).isSymbolicLink())).toEqual([
      true,
      true,
      true,
    ]);
    expect([readFileSync(join(to, "dir/c"), "utf8"), readdirSync(join(to, "dir/d"))]).toEqual(["file", ["x"]]);
    if (way === "out") expectHomeAsItWas();
    expect(readFileSync(join(home, ".bashrc"), "utf8")).toBe("mine");
  });

  test("a link takes the place of a file or a link, and touches nothing that they lead to", async () => {
    put(from, { "dir/a": "a", "dir/x": "x" });
    for (const name of ["b", "c"]) symlinkSync("a", join(from, "dir", name));
    put(to, { "dir/b": "old", "dir/sub/y": "y", "dir/b-too": "" });
    linkSync(join(to, "dir/b"), join(to, "keeps"));
    symlinkSync("sub", join(to, "dir/c"));
    expect(await copy(["dir"], to)).toEqual(DONE);
    expect(["b", "c"].map((name) => readlinkSync(join(to, "dir", name)))).toEqual(["a", "a"]);
    expect([readFileSync(join(to, "keeps"), "utf8"), readdirSync(join(to, "dir/sub"))]).toEqual(["old", ["y"]]);
  });

  test("holes stay holes, in a new file and in one that is there; times and hard links stay", async () => {
    put(from, { "dir/a": "a" });
    linkSync(join(from, "dir/a"), join(from, "dir/b"));
    // Ten pieces: more than one block of the archive tells.
    const holes = openSync(join(from, "dir/holes"), "w");
    for (let at = 0; at < 10; at += 1) writeSync(holes, `piece ${at}`, at * 300_000);
    closeSync(holes);
    truncateSync(join(from, "dir/holes"), 4_000_000);
    for (const name of ["a", "holes"]) utimesSync(join(from, "dir", name), 1_000_000_000, 1_000_000_000);
    utimesSync(join(from, "dir"), 1_100_000_000, 1_100_000_000);
    for (const round of ["new", "there", "resumed"]) {
      expect(await copy(["dir"], `${to}/`, { isResumed: round === "resumed" })).toEqual(DONE);
      const stats = statSync(join(to, "dir/holes"));
      expect([stats.size, stats.blocks * 512 < 200_000, stats.mtimeMs]).toEqual([4_000_000, true, 1_000_000_000_000]);
      expect(readFileSync(join(to, "dir/holes")).equals(readFileSync(join(from, "dir/holes")))).toBe(true);
      expect(statSync(join(to, "dir")).mtimeMs).toBe(1_100_000_000_000);
      expect(statSync(join(to, "dir/a")).ino).toBe(statSync(join(to, "dir/b")).ino);
    }
  });

  test("modes are the umask's, with -p their own, and never setuid; a folder that is there keeps its mode", async () => {
    put(from, { "dir/run": "x", "dir/ro/file": "x" });
    chmodSync(join(from, "dir/run"), 0o6777);
    chmodSync(join(from, "dir"), 0o6757);
    chmodSync(join(from, "dir/ro"), 0o555);
    const umask = process.umask(0o027);
    mkdirSync(join(to, "dir"), 0o700);
    const modes = (root: string) => ["", "run", "ro"].map((name) => statSync(join(root, name)).mode & 0o7777);
    expect(await copy(["dir"], to)).toEqual(DONE);
    expect(modes(join(to, "dir"))).toEqual([0o700, 0o750, 0o550]);
    expect(await copy(["dir"], to, { keepsModes: true })).toEqual(DONE);
    expect(modes(join(to, "dir"))).toEqual([0o757, 0o777, 0o555]);
    expect(await copy(["dir"], join(to, "new"))).toEqual(DONE);
    expect(modes(join(to, "new"))).toEqual([0o750, 0o750, 0o550]);
    process.umask(umask);
  });

  test("names of any bytes come, and are found by a copy that resumes", async () => {
    mkdirSync(join(from, "dir"));
    const odd = Buffer.from([0x66, 0xff, 0x0a, 0x5c, 0x6e, 0x20, 0xc3]);
    const long = "é".repeat(120);
    writeFileSync(Buffer.concat([Buffer.from(join(from, "dir/")), odd]), "odd");
    put(from, { [`dir/${long}`]: "long" });
    for (const isResumed of [false, true]) {
      expect(await copy(["dir"], to, { isResumed })).toEqual(DONE);
      const found = readdirSync(join(to, "dir"), { encoding: "buffer" }).map((name) => name.toString("latin1"));
      expect(found.sort()).toEqual([odd.toString("latin1"), Buffer.from(long).toString("latin1")].sort());
      writeFileSync(join(to, "dir", long), "else");
    }
    expect(readFileSync(Buffer.concat([Buffer.from(join(to, "dir/")), odd]), "utf8")).toBe("odd");
  });
});

test("what is new in a folder that became read-only comes into one that is here, as any user", async () => {
  put(there, { "tree/new": "new", "tree/below/new": "new" });
  chmodSync(join(there, "tree"), 0o555);
  put(here, { "tree/old": "old" });
  const remote = sandbox();
  await asAnybody(async () => {
    expect(await copyOut(part(["tree"], `${here}/`), remote)).toEqual(DONE);
  });
  expect(readdirSync(join(here, "tree")).sort()).toEqual(["below", "new", "old"]);
  expect(readdirSync(here)).toEqual(["tree"]);
});

test("what comes from - is written into a file that is there, which keeps its node, and through no hidden link", async () => {
  put(there, { file: "the old words", other: "other" });
  chmodSync(join(there, "file"), 0o640);
  linkSync(join(there, "file"), join(there, "too"));
  symlinkSync("file", join(there, "link"));
  // A shell that plants a link where the bytes would come to stand first: its own number is in that name.
  const planted: Remote = (script, args) =>
    sandbox()(`ln -s other ".$(basename "$1").sbx-cp-$$" 2> /dev/null\n${script}`, args, { hasInput: true });
  const typed = (name: string) => streamIn(name, planted, () => undefined, Readable.from([Buffer.from("new")]));
  const before = statSync(join(there, "file"));
  for (const name of ["file", "link", "fresh"]) expect(await typed(name)).toEqual(DONE);
  for (const name of ["file", "too", "fresh"]) expect(readFileSync(join(there, name), "utf8")).toBe("new");
  expect(statSync(join(there, "file"))).toMatchObject({ ino: before.ino, mode: before.mode, nlink: 2 });
  expect(statSync(join(there, "fresh")).mode & 0o777).toBe(0o666 & ~process.umask());
  expect(readFileSync(join(there, "other"), "utf8")).toBe("other");
  put(there, { "dir\n/x": "x", real: "old", "real\n": "old" });
  symlinkSync("real\n", join(there, "to"));
  for (const name of ["dir\n/new\n", "to"]) expect(await typed(name)).toEqual(DONE);
  const texts = ["dir\n/new\n", "real\n", "real"].map((name) => readFileSync(join(there, name), "utf8"));
  expect(texts).toEqual(["new", "new", "old"]);
});
