// The sandbox's side of a download, by a real shell, and what of a program's request is heard.

import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  folderOf,
  readDownloadRequest,
  readHeader,
  SEND,
  savedName,
  sendAddress,
  shownName,
} from "../../src/transfer/download-plan.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "sbx-send-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function send(path: string) {
  const env = { PATH: process.env.PATH ?? "", HOME: directory };
  const { stdout, stderr, status } = spawnSync("sh", ["-c", SEND, "sbx-download", path], { cwd: directory, env });
  const end = stdout.indexOf("\n");
  const head = stdout.subarray(0, end).toString();
  return { head, content: stdout.subarray(end + 1), said: stderr.toString(), status };
}

test.each(["a b.txt", "-n", "'ü\n$x"])("a file comes byte for byte behind its size: %j", (name) => {
  const bytes = Buffer.from([0, 10, 13, 255, ...Buffer.from("text\n")]);
  writeFileSync(join(directory, name), bytes);
  for (const path of [join(directory, name), `./${name}`, `~/${name}`]) {
    expect(send(path)).toEqual({ head: `file ${bytes.length}`, content: bytes, said: "", status: 0 });
  }
});

test("an empty file is a file", () => {
  writeFileSync(join(directory, "empty"), "");
  expect(send("empty")).toEqual({ head: "file 0", content: Buffer.alloc(0), said: "", status: 0 });
});

test.each(["folder", "folder/", "-folder", "./folder/.", "link"])("a folder comes as an archive: %s", (path) => {
  const name = path === "-folder" ? "-folder" : "folder";
  mkdirSync(join(directory, name, "deep"), { recursive: true });
  writeFileSync(join(directory, name, "deep", "x"), "content");
  if (path === "link") symlinkSync("folder", join(directory, "link"));
  const { head, content, status } = send(path.startsWith("-") ? `./${path}` : path);
  expect([head, status]).toEqual(["folder", 0]);
  const listed = execFileSync("tar", ["tf", "-"], { input: content }).toString();
  expect(listed.split("\n").filter((each) => each !== "")).toEqual(["./", "./deep/", "./deep/x"]);
});

test("what is no file is said, and nothing is sent", () => {
  for (const path of ["nothing", "/dev/zero", ""]) {
    const { content, head, said, status } = send(path);
    expect([head + content, said, status]).toEqual(["", "no such file\n", 1]);
  }
});

const request = (path: string) => `P;SbxDownload=${Buffer.from(path).toString("base64")}`;

test.each<[string, string | undefined]>([
  [request("/a/b c"), "/a/b c"],
  [request("/ü\n"), "/ü\n"],
  [request("relative"), undefined],
  [request("/a\0b"), undefined],
  [request(`/${"x".repeat(4096)}`), undefined],
  ["P;SbxDownload=", undefined],
  ["P;SbxDownload=%", undefined],
  ["P;SbxDownload=L/8=", undefined],
  ["P;Cwd=/x", undefined],
])("a program's request is read or it is none: %j", (text, path) => {
  expect(readDownloadRequest(text)).toBe(path);
});

test("the first line is a folder's or a file's, else it is nobody's", () => {
  expect(["folder", "file 12", "file -1", "file", "file 1x", "FILE 1"].map(readHeader)).toEqual([
    { kind: "folder" },
    { kind: "file", size: 12 },
    ...Array(4).fill(undefined),
  ]);
});

test("the name to save under is the last of the path, and never a way", () => {
  const file = { kind: "file", size: 0 } as const;
  const names = ["/a/b.txt", "b", "/a/..", "/", "~", "/a/\u202ebad\n.txt", "/a/b/"].map((path) =>
    savedName(path, file),
  );
  expect(names).toEqual(["b.txt", "b", "download", "download", "download", "bad.txt", "b"]);
  expect(savedName("/a/b/", { kind: "folder" })).toBe("b.tar");
  expect(["/a/ü/", "/", "/x/..\\..\\y", "/x/C:y"].map(folderOf)).toEqual([
    "\u00c3\u00bc",
    "download",
    ".._.._y",
    "C_y",
  ]);
  expect(shownName("\u00c3\u00bc\x1b[31m\n")).toBe("ü\ufffd[31m\ufffd");
});

test("the sending session is of the same sandbox, and takes no command, ticket or name of the address", () => {
  const url = sendAddress(
    "/attach?sandbox=dev&session=main&cmd=vim&ticket=s.x&env=A%3D1",
    "https://sbx.example/",
    "/p",
    "/w",
  );
  const { origin, pathname, searchParams } = new URL(url);
  expect([origin, pathname]).toEqual(["https://sbx.example", "/attach"]);
  expect([...searchParams]).toEqual([
    ["sandbox", "dev"],
    ["cmd", "sh"],
    ...["-c", SEND, "sbx-download", "/p"].map((arg) => ["arg", arg]),
    ["tty", "0"],
    ["cwd", "/w"],
  ]);
});
