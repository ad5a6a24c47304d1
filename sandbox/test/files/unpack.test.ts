// Archives that nobody may trust, unpacked into a workspace (V4): what is refused, and that nothing of it is kept.
import { spawnSync } from "node:child_process";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { tarHeader } from "sandbox-stdio/core";
import { expect, onTestFinished, test } from "vitest";
import { type Unpacked, unpack } from "../../src/files/unpack.ts";
import { archive, type Member, pax, sparse } from "./hostile-archives.ts";

/** A workspace with a folder, a file and a link that leads out. */
function workspace(): string {
  const folder = mkdtempSync(join(tmpdir(), "sbx-unpack-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "folder"));
  writeFileSync(join(folder, "folder/in"), "in");
  writeFileSync(join(folder, "there"), "there");
  symlinkSync("/etc", join(folder, "out"));
  return folder;
}

/** Hands the bytes out in pieces that end anywhere. */
function unpackBytes(folder: string, bytes: Uint8Array, maxMembers?: number): Unpacked {
  let at = 0;
  return unpack(
    folder,
    (room) => {
      const piece = bytes.subarray(at, at + Math.min(room.length, 700));
      room.set(piece);
      at += piece.length;
      return piece.length;
    },
    maxMembers,
  );
}

const listing = (folder: string) => readdirSync(folder, { recursive: true }).sort();

test.each<[string, readonly Member[]]>([
  ["an absolute name", [{ name: "/etc/evil" }]],
  ["`..` in a name", [{ name: "a/../../evil" }]],
  ["a backslash's `..`", [{ name: "a\\..\\evil" }]],
  ["a device", [{ name: "dev", type: "3" }]],
  ["a block device", [{ name: "dev", type: "4" }]],
  ["a FIFO", [{ name: "pipe", type: "6" }]],
  ["a setuid bit", [{ name: "su", mode: 0o4755 }]],
  ["a setgid bit on a folder", [{ name: "su", kind: "folder", mode: 0o2755 }]],
  ["an absolute link", [{ name: "link", kind: "link", target: "/etc/passwd" }]],
  ["a link that leads out", [{ name: "a/link", kind: "link", target: "../../etc" }]],
  ["a link that leads out behind a name", [{ name: "link", kind: "link", target: "a/../../etc" }]],
  ["a name that is too long", [{ name: "n/".repeat(200) + "n".repeat(3_700) }]],
  ["a name of too many parts", [{ name: `${"a/".repeat(256)}f` }]],
  ["an empty link", [{ name: "link", kind: "link", target: "" }]],
  ["a member below a link", [link("l", "a"), { name: "l/evil", content: "x" }]],
  ["a folder below a link", [link("l", "."), { name: "l/b/c", kind: "folder" }]],
  ["a link below a link", [link("l", "a"), link("l/m", "b")]],
  ["a member below a link that a folder has replaced", [link("l", "a"), { name: "l", kind: "folder" }]],
  ["another name of a file outside", [{ name: "h", kind: "hard link", target: "/etc/passwd" }]],
  ["another name of a file that is not in it", [{ name: "h", kind: "hard link", target: "there" }]],
  ["another name of a link", [link("l", "there"), { name: "h", kind: "hard link", target: "l" }]],
  [
    "a file in the place of a folder of its own",
    [
      { name: "f/g", content: "x" },
      { name: "f", content: "x" },
    ],
  ],
  ["a file in the place of a folder that is there", [{ name: "folder", content: "x" }]],
])("V4: %s is refused with the member, and nothing of its archive is kept", (_, members) => {
  const folder = workspace();
  const before = listing(folder);
  const result = unpackBytes(folder, archive({ name: "harmless", content: "x" }, ...members));
  expect(result).toMatchObject({ ok: false, status: 400, code: "bad_member" });
  const words = "message" in result ? result.message : "";
  expect(words).toContain(JSON.stringify(members.at(-1)?.name.slice(0, 256)).slice(0, -1));
  expect(listing(folder)).toEqual(before);
});

function link(name: string, target: string): Member {
  return { name, kind: "link", target };
}

test("V4: links within the workspace are kept, by its absolute path too", () => {
  const folder = workspace();
  const inside = link("abs", `${folder}/folder/in`);
  expect(unpackBytes(folder, archive(inside, link("top", folder), link("sub/up", "../there")))).toEqual({ ok: true });
  expect(["abs", "top/there", "sub/up"].map((name) => readFileSync(join(folder, name), "utf8"))).toEqual([
    "in",
    "there",
    "there",
  ]);
  for (const target of [`${folder}/../etc`, `${folder}-2/x`, `${folder}/folder/../..`]) {
    const refused = unpackBytes(folder, archive(link("bad", target)));
    expect([target, refused]).toEqual([target, expect.objectContaining({ status: 400, code: "bad_member" })]);
  }
});

test("V4: a sparse file is as long as it says, also where it ends with a hole, and its lies are refused", () => {
  const folder = workspace();
  expect(unpackBytes(folder, sparse("holes", 5_000, [[1_000, 3]]))).toEqual({ ok: true });
  const bytes = readFileSync(join(folder, "holes"));
  expect([
    bytes.length,
    bytes.subarray(1_000, 1_003).toString(),
    bytes.every((b, i) => b === 0 || (i >= 1_000 && i < 1_003)),
  ]).toEqual([5_000, "xxx", true]);
  const before = listing(folder);
  const cases: [Buffer, number, string][] = [
    // Beyond its own end, over each other, and more than a workspace may have.
    [sparse("lie", 1_000, [[999, 3]]), 400, "bad_archive"],
    [
      sparse("lie", 1_000, [
        [10, 3],
        [11, 3],
      ]),
      400,
      "bad_archive",
    ],
    [sparse("lie", 1024 ** 3 + 1, [[0, 3]]), 413, "too_long"],
    [archive({ name: "a".repeat(101), content: "x" }, { name: "b/".repeat(2_100) }), 400, "bad_member"],
    [pax("size", "1000000"), 400, "bad_archive"],
    [pax("size", "9007199254740993"), 400, "bad_archive"],
    [pax("size", "-5"), 400, "bad_archive"],
    [pax("size", "2000000000"), 413, "too_long"],
    [gzipSync(archive({ name: "zipped", content: "x" })) as Buffer, 400, "bad_archive"],
  ];
  for (const [given, status, code] of cases)
    expect(unpackBytes(folder, given)).toMatchObject({ ok: false, status, code });
  expect(unpackBytes(folder, gzipSync("x"))).toMatchObject({ message: expect.stringContaining("compressed") });
  expect(listing(folder)).toEqual(before);
});

test("V4: folders that an archive does not list count as members, and of doubled names the last counts", () => {
  const folder = workspace();
  const before = listing(folder);
  const deep = archive(...["a", "b", "c"].map((name) => ({ name: `${name}/1/2/3/file`, content: "x" })));
  expect(unpackBytes(folder, deep, 14)).toMatchObject({ ok: false, status: 413, code: "too_long" });
  expect(listing(folder)).toEqual(before);
  expect(unpackBytes(folder, deep, 15)).toEqual({ ok: true });
  const twice = archive({ name: "d", content: "first" }, link("d", "there"), { name: "d", content: "last" });
  expect(unpackBytes(folder, twice)).toEqual({ ok: true });
  expect([lstatSync(join(folder, "d")).isFile(), readFileSync(join(folder, "d"), "utf8")]).toEqual([true, "last"]);
});

test("V4: what a killed process has left is removed; what one that runs, or another namespace, unpacks is not", () => {
  const folder = workspace();
  const { pid } = spawnSync("true");
  const here = readlinkSync("/proc/self/ns/pid").replace(/\D/g, "");
  const kept = [`${here}-${process.pid}-runs`, `1-${pid}-elsewhere`, "mine"].map((name) => `.sbx-hydrate-${name}`);
  for (const name of [`.sbx-hydrate-${here}-${pid}-left`, ...kept])
    mkdirSync(join(folder, name, "in"), { recursive: true });
  expect(unpackBytes(folder, archive({ name: "f", content: "x" }))).toEqual({ ok: true });
  const hidden = readdirSync(folder).filter((name) => name.startsWith("."));
  expect(hidden.sort()).toEqual(kept.sort());
});

test("V4: an archive that breaks off, is none, or has too much is refused, and nothing of it is kept", () => {
  const folder = workspace();
  const before = listing(folder);
  const whole = archive({ name: "one", content: "x".repeat(2_000) });
  const refused = (bytes: Uint8Array) => {
    const result = unpackBytes(folder, bytes);
    return result.ok ? "kept" : [result.status, result.code];
  };
  const size = 1024 ** 3;
  const file = { kind: "file", mode: 0o644, modifiedAt: 1 } as const;
  expect(refused(whole.subarray(0, 1_024))).toEqual([400, "bad_archive"]);
  expect(refused(Buffer.from("no archive at all ".repeat(100)))).toEqual([400, "bad_archive"]);
  expect(refused(Buffer.alloc(0))).toEqual([400, "bad_archive"]);
  expect(refused(Buffer.from(tarHeader({ name: "huge", ...file, size: size + 1 })))).toEqual([413, "too_long"]);
  const three = archive(...["a", "b", "c"].map((name) => ({ name })));
  expect(unpackBytes(folder, three, 2)).toMatchObject({ ok: false, status: 413, code: "too_long" });
  expect(listing(folder)).toEqual(before);
});

test("V4: links that are there are replaced and not followed, and what else is there is kept", () => {
  const folder = workspace();
  const members = [
    { name: "out/hosts", content: "mine" },
    { name: "folder/new", content: "new" },
    { name: "./folder/link", kind: "link", target: "../there" },
    { name: "folder/again", kind: "hard link", target: "folder/new" },
  ] as const;
  expect(unpackBytes(folder, archive(...members))).toEqual({ ok: true });
  const seen = ["out/hosts", "folder/in", "folder/new", "folder/link", "folder/again"];
  expect(seen.map((name) => readFileSync(join(folder, name), "utf8"))).toEqual(["mine", "in", "new", "there", "new"]);
  expect(listing(folder)).toEqual([
    "folder",
    "folder/again",
    "folder/in",
    "folder/link",
    "folder/new",
    "out",
    "out/hosts",
    "there",
  ]);
});
