// Files on their way into the sandbox: the archive by a real tar, the command by a real shell.

import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tarEnd, tarHeader, tarPadding } from "sandbox-stdio/core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readWorkingDirectory } from "../../src/terminal/shell-marks.ts";
import { ENGLISH } from "../../src/texts/texts.ts";
import {
  entryOf,
  planUpload,
  RECEIVE,
  receiveAddress,
  receivedOf,
  secondsLeft,
  typedPaths,
  UPLOAD_LIMITS,
  WHOLE,
} from "../../src/transfer/upload-plan.ts";

let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "sbx-upload-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function archive(files: Record<string, string | undefined>): Buffer {
  const parts = Object.entries(files).flatMap(([path, text]) => {
    const bytes = Buffer.from(text ?? "");
    const entry = { path, size: bytes.length, modifiedAtMs: 1_700_000_000_000, isFolder: text === undefined };
    return [tarHeader(entryOf(entry)), bytes, tarPadding(bytes.length)];
  });
  return Buffer.concat(parts);
}

const receive = (input: Buffer) => spawnSync("sh", ["-c", RECEIVE], { cwd: home, input });
const whole = (files: Record<string, string | undefined>) =>
  Buffer.concat([archive(files), tarHeader(WHOLE), tarEnd()]);

test("a real tar unpacks it: long names, names of other scripts, sizes at a block's edge, folders", () => {
  const long = `${"d".repeat(90)}/${"é".repeat(60)}.txt`;
  const files = { folder: undefined, [long]: "long", "a b.txt": "x".repeat(512), empty: "", "ü\n": "y".repeat(513) };
  execFileSync("tar", ["xf", "-", "-C", home], { input: whole(files) });
  for (const [path, text] of Object.entries(files)) {
    if (text === undefined) expect(statSync(join(home, "files", path)).isDirectory()).toBe(true);
    else expect(readFileSync(join(home, "files", path), "utf8"), path).toBe(text);
  }
  expect(statSync(join(home, "files/a b.txt")).mtimeMs).toBe(1_700_000_000_000);
});

describe("what is received", () => {
  test("lies in the working directory, and each name is said with its path", () => {
    const { status, stdout } = receive(whole({ "-n it's.txt": "one", ".hidden": "two", "dir/deep/a": "three" }));
    const received = receivedOf(stdout.toString());
    expect(status).toBe(0);
    expect(received.map(({ name }) => name).toSorted()).toEqual(["-n it's.txt", ".hidden", "dir"]);
    expect(received.filter(({ name, path }) => path !== join(home, name))).toEqual([]);
    expect(readFileSync(join(home, "dir/deep/a"), "utf8")).toBe("three");
    expect(readdirSync(home).toSorted()).toEqual(["-n it's.txt", ".hidden", "dir"]);
  });

  test.each(["upload-is-whole", ".sbx-upload-is-whole", "files", "h"])("is kept under any name: %s", (name) => {
    const files = { [name]: "theirs", [`dir/${name}`]: "too" };
    // No name of a file stands for the mark that it is whole.
    expect([receive(archive(files)).status, readdirSync(home)]).toEqual([1, []]);
    expect(receive(whole(files)).status).toBe(0);
    expect([name, `dir/${name}`].map((path) => readFileSync(join(home, path), "utf8"))).toEqual(["theirs", "too"]);
  });

  test("writes over nothing: what has a taken name gets a number before its ending", () => {
    writeFileSync(join(home, "a.md"), "mine");
    mkdirSync(join(home, "a-2.md"));
    const { stdout } = receive(whole({ "a.md": "new" }));
    expect(receivedOf(stdout.toString())).toEqual([{ name: "a.md", path: join(home, "a-3.md") }]);
    expect(["a.md", "a-3.md"].map((name) => readFileSync(join(home, name), "utf8"))).toEqual(["mine", "new"]);
  });

  test.each([
    ["plain", "plain-2"],
    [".hidden", ".hidden-2"],
    [".hidden.txt", ".hidden-2.txt"],
    ["it's [1].tar.gz", "it's [1]-2.tar.gz"],
    ["-n.txt", "-n-2.txt"],
    ["*.txt", "*-2.txt"],
    ["ends.", "ends-2."],
  ])("is %s a second time as %s", (name, again) => {
    receive(whole({ [name]: "first" }));
    const { stdout } = receive(whole({ [name]: "second" }));
    expect(receivedOf(stdout.toString())).toEqual([{ name, path: join(home, again) }]);
    expect(readFileSync(join(home, again), "utf8")).toBe("second");
  });

  test("has a folder's number at its end, where a point is no ending", () => {
    receive(whole({ "v1.2/a": "first" }));
    const { stdout } = receive(whole({ "v1.2/a": "second" }));
    expect(receivedOf(stdout.toString())).toEqual([{ name: "v1.2", path: join(home, "v1.2-2") }]);
  });

  test("is told without a path that was cut off", () => {
    expect(receivedOf("a\0/w/a\0b\0/w/")).toEqual([{ name: "a", path: "/w/a" }]);
  });

  test("is not kept unless it is whole, wherever it was cut", () => {
    const all = whole({ a: "x".repeat(600), b: "y" });
    for (const length of [0, 100, 512, 900, 1536, 2048, 2560]) {
      expect(receive(all.subarray(0, length)).status, String(length)).not.toBe(0);
      expect(readdirSync(home), String(length)).toEqual([]);
    }
    expect(receive(all).status).toBe(0);
    expect(existsSync(join(home, "b"))).toBe(true);
  });
});

test("what may be uploaded is so much, and leads nowhere but below", () => {
  const plan = (...paths: string[]) => planUpload(paths.map((path) => ({ path, size: 1, isFolder: false })));
  expect(plan("a", "b/c d")).toEqual({ kind: "ready", bytes: 2, files: 2 });
  for (const path of ["", "/etc/passwd", "../a", "a/../b", "a//b", "./a", "a\0b"]) {
    expect(plan(path), path).toEqual({ kind: "refused", why: "bad-name" });
  }
  expect(plan()).toEqual({ kind: "refused", why: "nothing" });
  expect(planUpload([{ path: "a", size: UPLOAD_LIMITS.bytes + 1, isFolder: false }])).toMatchObject({
    why: "too-large",
  });
  expect(plan(...Array.from({ length: UPLOAD_LIMITS.files + 1 }, (_, index) => `${index}`))).toMatchObject({
    why: "too-many",
  });
});

test("the receiving session is of the same sandbox, and takes no command, ticket or name of the address", () => {
  const from = "/attach?sandbox=dev&session=main&cmd=top&ticket=s.x&role=viewer&token=t&cwd=/x";
  const { origin, pathname, searchParams } = new URL(receiveAddress(from, "https://sbx.example/", "/work"));
  expect([origin, pathname]).toEqual(["https://sbx.example", "/attach"]);
  expect([...searchParams]).toEqual([
    ["sandbox", "dev"],
    ["cmd", "sh"],
    ["arg", "-c"],
    ["arg", RECEIVE],
    ["tty", "0"],
    ["cwd", "/work"],
  ]);
});

test("typed paths are words of a shell, and never a key", () => {
  const paths = ["/w/a.txt", "/w/it's here", "/w/new\nline", "/w/$(x)", "/w/é"];
  const typed = typedPaths(paths);
  expect(execFileSync("sh", ["-c", `printf '%s|' ${typed}`]).toString()).toBe("/w/a.txt|/w/it's here|/w/$(x)|/w/é|");
});

test("a shell's working directory is read as it is escaped", () => {
  expect(
    ["P;Cwd=/work", "P;Cwd=/a\\x3bb\\\\c\\xc3\\xa9", "P;Cwd=work", "P;Other=/x", "E;ls"].map(readWorkingDirectory),
  ).toEqual(["/work", "/a;b\\cé", undefined, undefined, undefined]);
});

test("the time left is told at the speed so far, once there is one", () => {
  const told = (sent: number, sinceMs: number) =>
    ENGLISH.upload.progress(sent, 60_000_000, secondsLeft(sent, 60_000_000, sinceMs));
  expect([told(0, 9_000), told(10_000_000, 1_000)]).toEqual(["0.0 of 60.0 MB, 0 %", "10.0 of 60.0 MB, 16 %"]);
  expect([told(10_000_000, 8_000), told(1_000_000, 8_000), told(60_000_000, 8_000)]).toEqual([
    "10.0 of 60.0 MB, 16 %, 40 s left",
    "1.0 of 60.0 MB, 1 %, 8 min left",
    "60.0 of 60.0 MB, 100 %, 0 s left",
  ]);
});
