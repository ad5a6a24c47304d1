// What a tar archive says, in whatever pieces it comes, and what is refused. Archives are GNU tar's own.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Random } from "../../../local/src/base/random.ts";
import { TarFault, type TarMember, TarReader } from "../../src/tar/tar-reader.ts";

type Found = TarMember & { text: string };

/** Reads an archive in chunks. @param next How long the next is. */
function read(archive: Uint8Array, next: () => number): { found: Found[]; isWhole: boolean } {
  const found: Found[] = [];
  let text = "";
  const reader = new TarReader({
    member: (member) => {
      text = "";
      found.push({ ...member, text });
    },
    bytes: (bytes, offset) => {
      text = text.padEnd(offset, "_") + Buffer.from(bytes).toString();
    },
    memberEnd: () => {
      const last = found.at(-1);
      if (last !== undefined) last.text = text;
    },
  });
  for (let at = 0; at < archive.length; ) {
    const length = next();
    reader.push(archive.subarray(at, at + length));
    at += length;
  }
  return { found, isWhole: reader.isWhole };
}

/** A header of 512 bytes with its sum. */
function header(type: string, size: number, more: (block: Buffer) => void = () => undefined): Buffer {
  const block = Buffer.alloc(512);
  block.write("name");
  block.write("0000644\0", 100);
  block.write(`${size.toString(8).padStart(11, "0")}\0`, 124);
  block.write(" ".repeat(8), 148);
  block.write(type, 156);
  more(block);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}

test.each(["gnu", "pax", "ustar"])("%s: names, links, sizes, modes and times, however the bytes are cut", (format) => {
  const folder = mkdtempSync(join(tmpdir(), "sbx-tar-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const name = `${"long/".repeat(25)}${"n".repeat(90)}`;
  mkdirSync(join(folder, name, ".."), { recursive: true });
  writeFileSync(join(folder, name), "words", { mode: 0o640 });
  writeFileSync(join(folder, "empty"), "");
  execFileSync("ln", [join(folder, "empty"), join(folder, "other")]);
  execFileSync("ln", ["-s", "to/no/thing", join(folder, "link")]);
  execFileSync("touch", ["-hd", "@1000000000", join(folder, name), join(folder, "link")]);
  const words = [
    `--format=${format}`,
    "-cf",
    "-",
    "-C",
    folder,
    "--no-recursion",
    "long",
    name,
    "empty",
    "other",
    "link",
  ];
  const archive = execFileSync("tar", words);
  const seed = 5;
  const random = new Random(seed);
  for (const next of [() => archive.length, () => 1, () => random.int(1, 700)]) {
    const { found, isWhole } = read(archive, next);
    expect({ seed, isWhole, kinds: found.map(({ kind }) => kind) }).toEqual({
      seed,
      isWhole: true,
      kinds: ["folder", "file", "file", "hard link", "link"],
    });
    expect(found[1]).toMatchObject({ name, size: 5, mode: 0o640, modifiedAt: 1_000_000_000, text: "words" });
    expect(found.slice(2).map((one) => [one.name, one.target, one.text])).toEqual([
      ["empty", "", ""],
      ["other", "empty", ""],
      ["link", "to/no/thing", ""],
    ]);
  }
});

test("what is longer than any name, or has more pieces than a file, is refused before it is kept", () => {
  const whole = () => 512;
  for (const type of ["L", "K", "x", "g"])
    expect(() => read(header(type, 2_000_000), whole)).toThrow("a name of 2000000 bytes is too long");
  const more = (block: Buffer) => {
    block[482] = 1;
    block.write("00000000010\0", 483);
  };
  const pieces = Buffer.alloc(512);
  for (let at = 0; at < 504; at += 24) pieces.write("00000000000\x0000000000001\0", at);
  pieces[504] = 1;
  const endless = Buffer.concat([header("S", 512, more), ...Array.from({ length: 50_000 }, () => pieces)]);
  expect(() => read(endless, whole)).toThrow("too many pieces");
});

/** A pax header with these records. */
function pax(...records: string[]): Buffer {
  const text = records.map((record) => `${record.length + 4} ${record}\n`).join("");
  return Buffer.concat([header("x", text.length), Buffer.from(text.padEnd(512, "\0"))]);
}

test("times that no file can have, and names that go on behind a NUL, are what a file can have", () => {
  const times = ["mtime=Infinity", "mtime=1e300", "mtime=-500", "mtime=no time"].map((time) => [
    pax(time),
    header("0", 0),
  ]);
  const { found } = read(
    Buffer.concat([...times.flat(), pax("path=ab\0cd", "linkpath=e\0fg"), header("2", 0)]),
    () => 512,
  );
  const last = 253_402_300_799;
  expect(found.map(({ modifiedAt }) => modifiedAt)).toEqual([last, last, 0, 0, 0]);
  expect(found.at(-1)).toMatchObject({ name: "ab", target: "e" });
});

test("an archive that contradicts itself is refused", () => {
  const whole = () => 512;
  const sparse = (piece: string, real: string) => (block: Buffer) => {
    block.write(piece, 386);
    block.write(real, 483);
  };
  const cases = [
    [Buffer.alloc(512, "x"), "no tar archive"],
    [
      header("0", 0, (block) => block.write("\x80\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 124, "latin1")),
      "a size is no number",
    ],
    [
      header("0", 0, (block) => block.write("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 124, "latin1")),
      "a size is no number",
    ],
    [header("S", 512, sparse("00000001000\x0000000001000\0", "00000000010\0")), "are not its size"],
    [header("S", 1, sparse("00000000000\x0000000000010\0", "00000000010\0")), "are not its size"],
    [Buffer.concat([header("x", 512), Buffer.from("99 path=x\n".padEnd(512, "\0"))]), "pax record"],
  ] as const;
  for (const [archive, words] of cases) {
    expect(() => read(archive, whole)).toThrow(TarFault);
    expect(() => read(archive, whole)).toThrow(words);
  }
});
