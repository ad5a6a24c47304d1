// What is shown of a file: by its bytes, read by a real shell, and whatever its name is.

import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { READ, readStart } from "../../src/transfer/file-calls.ts";
import { pictureType, textOfFile } from "../../src/transfer/file-content.ts";

const bytes = (latin1: string) => Uint8Array.from(Buffer.from(latin1, "latin1"));

test.each([
  ["\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image/png"],
  ["\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg"],
  ["GIF89a\x01\0", "image/gif"],
  ["RIFF\x0a\0\0\x0aWEBPVP8 ", "image/webp"],
  ["<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml"],
  ["\xef\xbb\xbf<?xml version='1.0'?>\n<!-- a <b> -->\n<!DOCTYPE svg>\n<!-- c -->\n<SVG\n>", "image/svg+xml"],
  ["<html><svg></svg></html>", undefined],
  ["<svgx>", undefined],
  ["RIFF\0\0\0\0WAVE", undefined],
  ["PNG", undefined],
  ["", undefined],
])("%j is of the type %s", (start, type) => {
  expect(pictureType(bytes(start))).toBe(type);
});

test("comments that do not end hide what follows", () => {
  expect(pictureType(bytes(`${"<!--".repeat(2_000)}<svg>`))).toBeUndefined();
});

test("text is UTF-8 with few bytes of another encoding, and no NUL; a cut within a character is not seen", () => {
  expect(textOfFile(bytes(""), false)).toBe("");
  expect(textOfFile(Buffer.from("é€"), false)).toBe("é€");
  expect(textOfFile(Buffer.from("é€").subarray(0, 4), true)).toBe("é");
  expect(textOfFile(bytes("caf\xe9 as Latin-1 has it"), false)).toBe("caf\ufffd as Latin-1 has it");
  expect(textOfFile(bytes("\x7fELF\x02\0"), false)).toBeUndefined();
  expect(textOfFile(bytes("\xcf\xf0\xe8\xe2\xe5\xf2"), false)).toBeUndefined();
});

test("a real shell says of a file how long it is and when it was changed, and gives its first 256 KB", async () => {
  const home = await mkdtemp(join(tmpdir(), "sbx-content-"));
  onTestFinished(() => rm(home, { recursive: true }));
  const all = Uint8Array.from({ length: 300_000 }, (_, index) => index % 251);
  const read = async (name: string, content: Uint8Array) => {
    await writeFile(join(home, name), content);
    return readStart(spawnSync("sh", ["-c", READ, join(home, name)]).stdout.toString());
  };
  const long = await read("-n two\nlines", all);
  expect([long.bytes, Buffer.compare(long.start, all.subarray(0, 256_000))]).toEqual([300_000, 0]);
  expect(long.date).toMatch(/^[A-Z][a-z]{2} +\d+ +\d\d:\d\d$/);
  const empty = await read("empty", new Uint8Array());
  expect([empty.bytes, empty.start.length]).toEqual([0, 0]);
  const { status, stderr } = spawnSync("sh", ["-c", READ, join(home, "gone")]);
  expect([status === 0, stderr.toString()]).toEqual([false, expect.stringContaining("No such file")]);
});
