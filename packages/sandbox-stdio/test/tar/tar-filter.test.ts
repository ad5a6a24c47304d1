// Archives that a sandbox has packed to reach beside the folder that they bring, unpacked by a real tar once they were filtered.

import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { Random } from "../../../local/src/base/random.ts";
import { TarFilter } from "../../src/tar/tar-filter.ts";
import { type TarEntry, tarEnd, tarHeader, tarPadding } from "../../src/tar/tar-writer.ts";

/** Each unpacks three archives by a real tar. */
const ROUNDS = Number(process.env.FUZZ_RUNS ?? 8);

let home: string;
beforeEach(() => {
  home = fs.mkdtempSync(join(tmpdir(), "sbx-filter-"));
  onTestFinished(() => fs.rmSync(home, { recursive: true, force: true }));
  fs.mkdirSync(join(home, "work"));
  fs.mkdirSync(join(home, ".ssh"));
  fs.writeFileSync(join(home, ".bashrc"), "mine");
  fs.writeFileSync(join(home, ".ssh/id_rsa"), "secret", { mode: 0o600 });
});

type Member = Partial<TarEntry> & { readonly name: string; readonly text?: string };

const file = (name: string, text = "theirs", more: Partial<TarEntry> = {}): Member => ({ name, text, ...more });
const folder = (name: string, more: Partial<TarEntry> = {}): Member => ({ name, kind: "folder", ...more });
const link = (name: string, target: string): Member => ({ name, kind: "link", target });
const hard = (name: string, target: string): Member => ({ name, kind: "hard link", target });

function packed(members: readonly Member[]): Buffer {
  const parts = members.flatMap(({ text = "", ...entry }) => [
    tarHeader({ kind: "file", mode: 0o644, modifiedAt: 1_000_000_000, size: text.length, ...entry }),
    Buffer.from(text),
    tarPadding(text.length),
  ]);
  return Buffer.concat([...parts, tarEnd()]);
}

function filtered(archive: Uint8Array, next: () => number = () => 4096) {
  const parts: Buffer[] = [];
  const leftOut: string[] = [];
  const filter = new TarFilter("top", {
    write: (bytes) => parts.push(Buffer.from(bytes)),
    leftOut: (name, why) => leftOut.push(`${name}: ${why}`),
  });
  for (let at = 0; at < archive.length; ) {
    const length = next();
    filter.push(archive.subarray(at, at + length));
    at += length;
  }
  return { isWhole: filter.end(), bytes: Buffer.concat(parts), leftOut };
}

/** As a person does, beside what earlier archives have left. @returns What was left out, and what tar says. */
function unpack(archive: Uint8Array): { leftOut: string[]; said: string } {
  const { bytes, leftOut } = filtered(archive);
  const { stderr } = spawnSync("tar", ["xf", "-"], { cwd: join(home, "work"), input: bytes });
  return { leftOut, said: stderr.toString() };
}

function expectHomeAsItWas(more: object = {}): void {
  const mine = [".bashrc", ".ssh/id_rsa"].map((name) => fs.statSync(join(home, name)));
  expect({
    ...more,
    home: fs.readdirSync(home).sort(),
    ssh: fs.readdirSync(join(home, ".ssh")),
    work: fs.readdirSync(join(home, "work")),
    mine: mine.map(({ nlink, size, mode }) => [nlink, size, mode & 0o7777]),
  }).toEqual({
    ...more,
    home: [".bashrc", ".ssh", "work"],
    ssh: ["id_rsa"],
    work: ["top"],
    mine: [
      [1, 4, 0o644],
      [1, 6, 0o600],
    ],
  });
}

const treeOf = () => execFileSync("find", ["top", "-printf", "%P %y %l\n"], { cwd: join(home, "work") }).toString();
const sorted = (text: string) => text.split("\n").filter(Boolean).sort();

function targetOf(path: string): string | undefined {
  try {
    return fs.readlinkSync(path);
  } catch {
    return undefined; // No link, or nothing.
  }
}

/** Where a path leads, whether or not something is there; undefined: round and round. */
function ledTo(path: string): string | undefined {
  const left = path.split("/").filter(Boolean);
  let at = "";
  for (let steps = 0; left.length > 0; steps += 1) {
    if (steps > 500) return undefined;
    const part = left.shift() ?? "";
    const next = part === ".." ? at.replace(/\/[^/]*$/, "") : part === "." ? at : `${at}/${part}`;
    const target = targetOf(next);
    if (target === undefined) at = next;
    else {
      if (target.startsWith("/")) at = "";
      left.unshift(...target.split("/").filter(Boolean));
    }
  }
  return at;
}

describe("what an archive may not do", () => {
  test.each<[string, readonly Member[], readonly string[]]>([
    [
      "names that are absolute or lead upwards",
      [file("/tmp/x"), file("../x"), file("a/../../x"), file("a\\..\\..\\x")],
      ["/tmp/x: leads-out", "../x: leads-out", "a/../../x: leads-out", "a\\..\\..\\x: leads-out"],
    ],
    [
      "links that lead out",
      [
        ...[link("a", "/etc"), link("b", ".."), link("c/d", "../../.bashrc"), link("e", "f/../.."), link("h", "")],
        link("g", "C:\\x"),
      ],
      ["a", "b", "c/d", "e", "h", "g"].map((name) => `${name}: leads-out`),
    ],
    [
      "members below a link",
      [link("a", "b"), folder("b"), file("a/x"), file("a"), folder("a"), link("a/l", "..")],
      ["a/x: below-link", "a: below-link", "a/: below-link", "a/l: below-link"],
    ],
    [
      "a link above one that was there, which would be less deep then",
      [link("a/b/c", "../../x"), link("a", "."), link("A", ".")],
      ["a: below-link", "A: below-link"],
    ],
    [
      "links below one that a file system finds by another spelling",
      [link("a", "."), link("A/A/A/x", "../../../x"), link("a. /b/x", "../../x")],
      ["A/A/A/x: below-link", "a. /b/x: below-link"],
    ],
    [
      "hard links to what is not in it, and to a link",
      [
        ...[file("f"), link("l", "f"), hard("a", "../../.ssh/id_rsa"), hard("b", "/etc/passwd"), hard("c", "l")],
        ...[hard("d", "gone"), hard("e", "F/../f"), hard("g", "f")],
      ],
      ["a: leads-out", "b: leads-out", "c: not-in-archive", "d: not-in-archive", "e: leads-out"],
    ],
    ["a file in the folder's own place", [file("."), link("./", "x")], [".: no-name", "./: no-name"]],
  ])("%s", (_, members, leftOut) => {
    expect(unpack(packed([folder("."), ...members])).leftOut).toEqual(leftOut);
    expectHomeAsItWas();
  });

  test("a link of an earlier archive is not written through: its folder is there instead", () => {
    unpack(packed([folder("."), link("deep/link", "../other"), file("other/x")]));
    const { said } = unpack(
      packed([file("deep/link/x"), link("deep/link/l", "../../other"), hard("h", "deep/link/x")]),
    );
    expect([said, fs.readFileSync(join(home, "work/top/other/x"), "utf8")]).toEqual(["", "theirs"]);
    expect(fs.realpathSync(join(home, "work/top/deep/link/l"))).toBe(join(home, "work/top/other"));
    expectHomeAsItWas();
  });

  test("devices and pipes are left out, setuid and setgid are not kept", () => {
    const from = join(home, "work/from");
    fs.mkdirSync(from);
    execFileSync("mkfifo", [join(from, "pipe")]);
    fs.writeFileSync(join(from, "suid"), "x");
    fs.chmodSync(join(from, "suid"), 0o6755);
    const archive = execFileSync("tar", ["cf", "-", "-C", from, "."]);
    fs.rmSync(from, { recursive: true });
    expect(unpack(archive)).toEqual({ leftOut: ["./pipe: special"], said: "" });
    expect(fs.statSync(join(home, "work/top/suid")).mode & 0o7777).toBe(0o755);
    expectHomeAsItWas();
  });

  test("three archives in a row of random names and links lead nowhere out", () => {
    const seed = Number(process.env.FUZZ_SEED ?? 1 + (Date.now() % 1_000_000));
    const random = new Random(seed);
    const one = <T>(from: readonly T[]): T => from[random.int(0, from.length - 1)] as T;
    const path = () => Array.from({ length: random.int(1, 3) }, () => one(["a", "b", "c", "d", "..", "."])).join("/");
    const target = () => `${"../".repeat(random.int(0, 3))}${path()}`;
    for (let round = 0; round < ROUNDS; round += 1) {
      for (let archive = 0; archive < 3; archive += 1) {
        const members = Array.from({ length: 12 }, () => one([file, folder, link, link, hard])(path(), target()));
        // A folder's second word is what it says of itself.
        unpack(packed(members.map((each) => (each.kind === "folder" ? folder(each.name) : each))));
      }
      const top = join(home, "work/top");
      const links = execFileSync("find", ["work", "-type", "l"], { cwd: home }).toString().split("\n").filter(Boolean);
      const outside = links.filter((name) => !`${ledTo(join(home, name)) ?? top}/`.startsWith(`${top}/`));
      expect({ seed, outside }).toEqual({ seed, outside: [] });
      if (fs.existsSync(top)) expectHomeAsItWas({ seed, round });
      fs.rmSync(top, { recursive: true, force: true });
    }
  });
});

test.each(["gnu", "pax", "ustar"])(
  "%s: what leads nowhere out comes as it was, however the bytes are cut",
  (format) => {
    const from = join(home, "work/from");
    const long = `${"long/".repeat(25)}${"ü".repeat(45)}`;
    fs.mkdirSync(join(from, long, ".."), { recursive: true });
    fs.mkdirSync(join(from, "closed/below"), { recursive: true });
    fs.writeFileSync(join(from, long), "words", { mode: 0o640 });
    fs.writeFileSync(join(from, "closed/below/x"), "y".repeat(512));
    // The older format has no room for the long name of a file with two.
    if (format === "ustar") fs.writeFileSync(join(from, "other"), "words");
    else fs.linkSync(join(from, long), join(from, "other"));
    fs.symlinkSync("../../other", join(from, "closed/below/link"));
    if (format !== "ustar") fs.symlinkSync(`./${long}`, join(from, "far"));
    fs.chmodSync(join(from, "closed/below"), 0o555);
    execFileSync("touch", ["-d", "@1000000000", join(from, long), join(from, "closed/below"), from]);
    const archive = execFileSync("tar", [`--format=${format}`, "--sort=name", "-cf", "-", "-C", from, "."]);
    const random = new Random(7);
    for (const next of [() => archive.length, () => 1, () => random.int(1, 700)]) {
      const { bytes, leftOut, isWhole } = filtered(archive, next);
      expect([leftOut, isWhole]).toEqual([[], true]);
      execFileSync("tar", ["xf", "-"], { cwd: join(home, "work"), input: bytes });
      const at = join(home, "work/top");
      const wanted = execFileSync("find", [".", "-printf", "%P %y %l %m %n %T@\n"], { cwd: from }).toString();
      const found = execFileSync("find", [".", "-printf", "%P %y %l %m %n %T@\n"], { cwd: at }).toString();
      const whole = (text: string) => sorted(text).map((line) => line.replace(/\.\d+$/, ""));
      expect(whole(found)).toEqual(whole(wanted));
      expect(fs.readFileSync(join(at, "other"), "utf8")).toBe("words");
      execFileSync("chmod", ["-R", "u+w", at]);
      fs.rmSync(at, { recursive: true });
    }
    execFileSync("chmod", ["-R", "u+w", from]);
  },
);

test("an archive that breaks off is not whole, and its folders come once each", () => {
  const members = [folder("."), folder("a"), file("a/x"), folder("a/b"), file("a/b/y"), file("a/z"), file("w")];
  const archive = packed(members);
  expect(filtered(archive.subarray(0, 2_000)).isWhole).toBe(false);
  const listed = execFileSync("tar", ["tf", "-"], { input: filtered(archive).bytes }).toString();
  expect(listed.trim().split("\n")).toEqual(
    ["", "a/", "a/x", "a/b/", "a/b/y", "a/z", "w"].map((name) => `./top/${name}`),
  );
  unpack(packed([file("p/q/r")]));
  expect(sorted(treeOf())).toEqual([" d ", "p d ", "p/q d ", "p/q/r f "]);
});
