// Archives that no tar writes. Those that tar does write are read in tar-filter.test.ts, in whatever pieces they come.

import { expect, test } from "vitest";
import { TarFault, type TarMember, TarReader } from "../../src/tar/tar-reader.ts";

/** The members of an archive, which comes in blocks. */
function read(archive: Uint8Array): TarMember[] {
  const found: TarMember[] = [];
  const ignore = () => undefined;
  const reader = new TarReader({ member: (member) => found.push(member), bytes: ignore, memberEnd: ignore });
  for (let at = 0; at < archive.length; at += 512) reader.push(archive.subarray(at, at + 512));
  return found;
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

test("what is longer than any name, or has more pieces than a file, is refused before it is kept", () => {
  for (const type of ["L", "K", "x", "g"])
    expect(() => read(header(type, 2_000_000))).toThrow("a name of 2000000 bytes is too long");
  const more = (block: Buffer) => {
    block[482] = 1;
    block.write("00000000010\0", 483);
  };
  const pieces = Buffer.alloc(512);
  for (let at = 0; at < 504; at += 24) pieces.write("00000000000\x0000000000001\0", at);
  pieces[504] = 1;
  const endless = Buffer.concat([header("S", 512, more), ...Array.from({ length: 50_000 }, () => pieces)]);
  expect(() => read(endless)).toThrow("too many pieces");
});

/** A pax header with these records. */
function pax(...records: string[]): Buffer {
  const text = records.map((record) => `${record.length + 4} ${record}\n`).join("");
  return Buffer.concat([header("x", text.length), Buffer.from(text.padEnd(512, "\0"))]);
}

test("a name that comes in pieces is whole, though the Buffer that each comes in is used again", () => {
  const name = "n".repeat(1_500);
  const archive = Buffer.concat([header("L", name.length), Buffer.from(name.padEnd(1_536, "\0")), header("0", 0)]);
  const found: string[] = [];
  const ignore = () => undefined;
  const reader = new TarReader({ member: (member) => found.push(member.name), bytes: ignore, memberEnd: ignore });
  const room = Buffer.alloc(700);
  for (let at = 0; at < archive.length; at += room.length) {
    reader.push(room.subarray(0, archive.copy(room, 0, at)));
  }
  expect(found).toEqual([name]);
});

test("times that no file can have, and names that go on behind a NUL, are what a file can have", () => {
  const times = ["mtime=Infinity", "mtime=1e300", "mtime=-500", "mtime=no time"].map((time) => [
    pax(time),
    header("0", 0),
  ]);
  const found = read(Buffer.concat([...times.flat(), pax("path=ab\0cd", "linkpath=e\0fg"), header("2", 0)]));
  const last = 253_402_300_799;
  expect(found.map(({ modifiedAt }) => modifiedAt)).toEqual([last, last, 0, 0, 0]);
  expect(found.at(-1)).toMatchObject({ name: "ab", target: "e" });
});

test("an archive that contradicts itself is refused", () => {
  const sparse = (piece: string, real: string) => (block: Buffer) => {
    block.write(piece, 386);
    block.write(real, 483);
  };
  const cases = [
    [Buffer.alloc(512, "x"), "not a tar archive"],
    [header("0", 0, (block) => block.write(`\x80${"\xff".repeat(11)}`, 124, "latin1")), "a size is not a valid number"],
    [header("0", 0, (block) => block.write("\xff".repeat(12), 124, "latin1")), "a size is not a valid number"],
    [header("S", 512, sparse("00000001000\x0000000001000\0", "00000000010\0")), "are not its size"],
    [header("S", 1, sparse("00000000000\x0000000000010\0", "00000000010\0")), "are not its size"],
    [Buffer.concat([header("x", 512), Buffer.from("99 path=x\n".padEnd(512, "\0"))]), "pax record"],
  ] as const;
  for (const [archive, words] of cases) {
    expect(() => read(archive)).toThrow(TarFault);
    expect(() => read(archive)).toThrow(words);
  }
});

test("an archive reads the same whatever its pieces are, also from one Buffer that is used again for each", () => {
  const names = ["n", "o"].map((letter) => letter.repeat(120));
  const members = names.map((name) => [
    header("L", name.length),
    Buffer.from(name.padEnd(512, "\0")),
    pax("mtime=1700000000.5"),
    header("0", 3),
    Buffer.from("abc".padEnd(512, "\0")),
  ]);
  const archive = Buffer.concat([...members.flat(), Buffer.alloc(1024)]);
  for (let cut = 1; cut < archive.length; cut += 1) {
    const found: string[] = [];
    const ignore = () => undefined;
    const reader = new TarReader({ member: ({ name }) => found.push(name), bytes: ignore, memberEnd: ignore });
    const room = Buffer.alloc(archive.length);
    for (const piece of [archive.subarray(0, cut), archive.subarray(cut)]) {
      piece.copy(room);
      reader.push(room.subarray(0, piece.length));
      room.fill(0xff);
    }
    expect([cut, found]).toEqual([cut, names]);
  }
});
