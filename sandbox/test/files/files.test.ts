import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { ARCHIVE_PATH, type FileAnswer, type FileOrder, packFileMessage, unpackFileMessage } from "sandbox-stdio/core";
import { describe, expect, it, onTestFinished } from "vitest";
import { openDirectory } from "../../src/base/directories.ts";
import { atPlace } from "../../src/files/place.ts";
import { HEADERS, isRoot, NOBODY, startBridgeProcess, temporary, testBridge } from "../support/bridge.ts";
import { archive } from "./hostile-archives.ts";

type Ask = (order: FileOrder, text?: string) => Promise<FileAnswer & { readonly text: string }>;

function asking(url: string): Ask {
  return async (order, text = "") => {
    const init = { method: "POST", headers: HEADERS, body: packFileMessage(order, Buffer.from(text)) };
    const response = await fetch(`${url}/files?sandbox=dev`, init);
    const said = unpackFileMessage<FileAnswer>(new Uint8Array(await response.arrayBuffer()));
    if (said === undefined) throw new Error(`status ${response.status}`);
    return { ...said.message, text: Buffer.from(said.bytes).toString() };
  };
}

function setUp(env: Readonly<Record<string, string>> = {}) {
  const folder = temporary();
  chmodSync(folder, 0o777);
  const root = temporary();
  chmodSync(root, 0o711);
  const { url } = testBridge(env, root);
  return { folder, url, ask: asking(url) };
}

const walkOf = (path: string, more: object = {}) =>
  ({ op: "walk", path, maxEntries: 100, maxDepth: 100, maxDirectories: 100, followLinks: false, ...more }) as const;

describe("files in the sandbox", () => {
  it("E6: what is written is read back, and told of", async () => {
    const { folder, ask } = setUp();
    const path = join(folder, "a.txt");
    expect(await ask({ op: "stat", path })).toMatchObject({ ok: false, code: "ENOENT" });
    expect(await ask({ op: "write", path }, "first, and long")).toMatchObject({ ok: true });
    expect(await ask({ op: "write", path }, "héllo\0")).toMatchObject({ ok: true });
    expect(readFileSync(path, "utf8")).toBe("héllo\0");
    expect(await ask({ op: "read", path, maxBytes: 7 })).toMatchObject({ ok: true, text: "héllo\0" });
    expect(await ask({ op: "read", path, maxBytes: 6 })).toMatchObject({ ok: false, code: "EFBIG" });
    const told = await ask({ op: "stat", path });
    expect(told).toMatchObject({ facts: { kind: "file", isLink: false, size: 7 } });
    expect(await ask({ op: "write", path: join(folder, "none/a") }, "x")).toMatchObject({ code: "ENOENT" });
    expect(await ask({ op: "read", path: folder, maxBytes: 9 })).toMatchObject({ code: "EISDIR" });
    expect(await ask({ op: "read", path: "/dev/zero", maxBytes: 9 })).toMatchObject({ code: "ENOTREG" });
    expect(await ask({ op: "read", path: "a.txt", maxBytes: 9 })).toMatchObject({ code: "EINVAL" });
    expect((await ask({ op: "read", path: "/proc/self/comm", maxBytes: 64 })).text).toMatch(/\S\n$/);
  });

  it("E6: directories are made, listed, walked and removed, and no link is entered on the way", async () => {
    const { folder, ask } = setUp();
    const outside = temporary();
    writeFileSync(join(outside, "kept"), "kept");
    const deep = join(folder, "a/b/c");
    expect(await ask({ op: "mkdir", path: deep, recursive: false })).toMatchObject({ code: "ENOENT" });
    expect(await ask({ op: "mkdir", path: deep, recursive: true })).toMatchObject({ ok: true });
    expect(await ask({ op: "mkdir", path: deep, recursive: true })).toMatchObject({ ok: true });
    expect(await ask({ op: "mkdir", path: deep, recursive: false })).toMatchObject({ code: "EEXIST" });
    symlinkSync(outside, join(folder, "a/out"));
    expect(await ask({ op: "list", path: join(folder, "a") })).toMatchObject({
      entries: expect.arrayContaining([
        { name: "b", kind: "directory" },
        { name: "out", kind: "link" },
      ]),
    });
    const names = (answer: FileAnswer) => (answer.ok ? (answer.entries ?? []).map(({ name }) => name).sort() : []);
    expect(names(await ask(walkOf(folder)))).toEqual(["a", "a/b", "a/b/c", "a/out"].map((name) => join(folder, name)));
    expect(names(await ask(walkOf(folder, { followLinks: true })))).toContain(join(folder, "a/out/kept"));
    expect(names(await ask(walkOf(folder, { maxDepth: 1 })))).toEqual([join(folder, "a")]);
    const cut = await ask(walkOf(folder, { maxEntries: 2 }));
    expect(cut).toMatchObject({ truncated: true });
    expect(names(cut)).toHaveLength(2);
    const root = join(folder, "a");
    expect(await ask({ op: "remove", path: root, recursive: false, force: false })).toMatchObject({
      code: "ENOTEMPTY",
    });
    expect(await ask({ op: "remove", path: root, recursive: true, force: false })).toMatchObject({ ok: true });
    expect(existsSync(root)).toBe(false);
    expect(readFileSync(join(outside, "kept"), "utf8")).toBe("kept");
    expect(await ask({ op: "remove", path: root, recursive: true, force: false })).toMatchObject({ code: "ENOENT" });
    expect(await ask({ op: "remove", path: root, recursive: true, force: true })).toMatchObject({ ok: true });
  });

  it("E6: a copy has its links as links, and does not end in itself", async () => {
    const { folder, ask } = setUp();
    mkdirSync(join(folder, "from/sub"), { recursive: true });
    writeFileSync(join(folder, "from/sub/f"), "f");
    symlinkSync("/etc/passwd", join(folder, "from/link"));
    const [path, to] = [join(folder, "from"), join(folder, "to")];
    expect(await ask({ op: "copy", path, to, recursive: false })).toMatchObject({ code: "EISDIR" });
    expect(await ask({ op: "copy", path, to, recursive: true })).toMatchObject({ ok: true });
    expect(readFileSync(join(to, "sub/f"), "utf8")).toBe("f");
    expect(readlinkSync(join(to, "link"))).toBe("/etc/passwd");
    const inside = join(folder, "from/sub/again");
    expect(await ask({ op: "copy", path, to: inside, recursive: true })).toMatchObject({ code: "EINVAL" });
    expect(await ask({ op: "real", path: join(folder, "to/./sub/../link") })).toMatchObject({ path: "/etc/passwd" });
  });

  it("E6: a place outside of what was named is refused, by `..` and by links", async () => {
    const { folder, ask } = setUp();
    const within = [join(folder, "work")];
    mkdirSync(join(folder, "work/sub"), { recursive: true });
    writeFileSync(join(folder, "secret"), "secret");
    symlinkSync("..", join(folder, "work/up"));
    symlinkSync(join(folder, "secret"), join(folder, "work/link"));
    symlinkSync(join(folder, "none"), join(folder, "work/dangling"));
    symlinkSync("sub", join(folder, "work/inner"));
    for (const path of ["work/../secret", "work/up/secret", "work/link", "secret", "workshop"]) {
      const at = join(folder, "/") + path;
      expect(await ask({ op: "write", path: at, within }, "x"), path).toMatchObject({ ok: false, code: "EOUTSIDE" });
      const read = await ask({ op: "read", path: at, maxBytes: 99, within });
      expect(read, path).toMatchObject({ ok: false, code: "EOUTSIDE", text: "" });
    }
    const dangling = join(folder, "work/dangling");
    expect(await ask({ op: "write", path: dangling, within }, "x")).toMatchObject({ ok: false });
    expect(existsSync(join(folder, "none"))).toBe(false);
    expect(readFileSync(join(folder, "secret"), "utf8")).toBe("secret");
    expect(await ask({ op: "write", path: join(folder, "work/inner/f"), within }, "x")).toMatchObject({ ok: true });
    expect(readFileSync(join(folder, "work/sub/f"), "utf8")).toBe("x");
  });

  it("E6: a directory that a link takes the place of meanwhile leads nowhere else", async () => {
    const folder = temporary();
    for (const name of ["work/in", "outside"]) mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, "work/in/f"), "inside");
    writeFileSync(join(folder, "outside/f"), "secret");
    const path = join(folder, "work/in/f");
    const swap = () => {
      renameSync(join(folder, "work/in"), join(folder, "work/was"));
      symlinkSync("../outside", join(folder, "work/in"));
    };
    const seen = atPlace(path, "follow", [join(folder, "work")], (place) => {
      swap();
      writeFileSync(place.path, "written");
      return readFileSync(place.path, "utf8");
    });
    expect([seen, readFileSync(join(folder, "outside/f"), "utf8")]).toEqual(["written", "secret"]);
    // As it is where the link comes before the directory is opened, and behind the look at where it leads.
    expect(() => openDirectory(join(folder, "work/in"))).toThrow(/ELOOP|ENOTDIR/);
  });

  it("V4: a full disk is told, and of an archive that does not fit nothing is kept", async () => {
    const { folder, url, ask } = setUp();
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=256k", "full", folder]);
    onTestFinished(() => void execFileSync("umount", ["-l", folder]));
    const path = join(folder, "f");
    expect(await ask({ op: "write", path }, "x".repeat(300_000))).toMatchObject({ ok: false, code: "ENOSPC" });
    await ask({ op: "remove", path, recursive: false, force: false });
    const place = (await ask({ op: "where" })) as unknown as { where: { cwd: string } };
    execFileSync("mount", ["--bind", folder, place.where.cwd]);
    onTestFinished(() => void execFileSync("umount", ["-l", place.where.cwd]));
    const body = archive({ name: "fits", content: "x" }, { name: "not", content: "x".repeat(300_000) });
    const response = await fetch(`${url}${ARCHIVE_PATH}?sandbox=dev`, { method: "PUT", headers: HEADERS, body });
    expect([response.status, await response.json()]).toEqual([507, expect.objectContaining({ error: "no_space" })]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("V4: an archive that is on its way counts as use of the container", async () => {
    const { url } = setUp();
    const idleMs = async () => {
      const response = await fetch(`${url}/sessions?sandbox=dev`, { headers: HEADERS });
      return ((await response.json()) as { idleMs: number }).idleMs;
    };
    await expect.poll(idleMs).toBeGreaterThan(0);
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const init = { method: "PUT", headers: HEADERS, body: readable, duplex: "half" } as RequestInit;
    const answer = fetch(`${url}${ARCHIVE_PATH}?sandbox=dev`, init);
    const writer = writable.getWriter();
    const bytes = archive({ name: "f", content: "x" });
    await writer.write(bytes.subarray(0, 100));
    await expect.poll(idleMs).toBe(0);
    await writer.write(bytes.subarray(100));
    expect(await idleMs()).toBe(0);
    await writer.close();
    expect((await answer).status).toBe(200);
    await expect.poll(idleMs).toBeGreaterThan(0);
  });

  it("V4: a sandbox has four archives on their way at once, and one whose caller goes away is ended", async () => {
    const { url, ask } = setUp();
    const { where } = (await ask({ op: "where" })) as unknown as { where: { cwd: string } };
    const bytes = archive({ name: "f", content: "x" });
    const gone = new AbortController();
    const begin = (signal: AbortSignal | null) => {
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      const init = { method: "PUT", headers: HEADERS, body: readable, duplex: "half", signal } as RequestInit;
      const answer = fetch(`${url}${ARCHIVE_PATH}?sandbox=dev`, init).then(({ status }) => status);
      const writer = writable.getWriter();
      const begun = writer.write(bytes.subarray(0, 100));
      return { answer, writer, begun };
    };
    const unpacking = () => readdirSync(where.cwd).length;
    const left = begin(gone.signal);
    await expect.poll(unpacking).toBe(1);
    // It does not see that its input ends.
    process.kill(Number(readdirSync(where.cwd)[0]?.split("-")[3]), "SIGSTOP");
    const leaving = [expect(left.answer).rejects.toThrow(/abort/i), left.begun.catch(() => undefined)];
    const others = [begin(null), begin(null), begin(null)];
    await expect.poll(unpacking).toBe(4);
    const persisted = async () =>
      (await fetch(`${url}${ARCHIVE_PATH}?sandbox=dev`, { method: "POST", headers: HEADERS })).status;
    expect(await persisted()).toBe(429);
    gone.abort();
    await Promise.all(leaving);
    await expect.poll(persisted).toBe(200);
    for (const { writer, answer } of others) {
      await writer.write(bytes.subarray(100));
      await writer.close();
      expect(await answer).toBe(200);
    }
    expect(readdirSync(where.cwd)).toContain("f");
  });

  it("E6: a bridge that is one bundled file starts its helper too, and has no workspace to give away", async () => {
    const dir = join(temporary(), "a folder");
    const build = ["build", "--target=bun", "--outdir", dir, join(import.meta.dirname, "../../stdio-ws.ts")];
    execFileSync(process.execPath, build, { stdio: "ignore" });
    const { url } = await startBridgeProcess({ env: { STDIO_WORKSPACE: dir } }, join(dir, "stdio-ws.js"));
    expect(await asking(url)({ op: "where" })).toMatchObject({ ok: true, where: { cwd: dir } });
    const response = await fetch(`${url}/workspace?sandbox=dev`, { method: "POST", headers: HEADERS });
    expect([response.status, await response.json()]).toEqual([502, expect.objectContaining({ error: "no_workspace" })]);
  });

  it("E6: an open file is read in blocks, by its owner alone, 64 at a time", async () => {
    const { folder, ask } = setUp();
    const path = join(folder, "f");
    writeFileSync(path, "0123456789");
    const mine = { owner: "me", handle: "h" };
    expect(await ask({ op: "open", ...mine, path })).toMatchObject({ ok: true });
    expect(await ask({ op: "block", ...mine, offset: 2, length: 4 })).toMatchObject({ text: "2345", isEnd: false });
    expect(await ask({ op: "block", ...mine, offset: 8, length: 4 })).toMatchObject({ text: "89", isEnd: true });
    const other = { owner: "you", handle: "h" };
    expect(await ask({ op: "block", ...other, offset: 0, length: 4 })).toMatchObject({ code: "EBADF" });
    for (let i = 1; i < 64; i += 1) await ask({ op: "open", owner: "me", handle: `${i}`, path });
    expect(await ask({ op: "open", owner: "me", handle: "64", path })).toMatchObject({ code: "EMFILE" });
    expect(await ask({ op: "close", ...mine })).toMatchObject({ ok: true });
    expect(await ask({ op: "block", ...mine, offset: 0, length: 4 })).toMatchObject({ code: "EBADF" });
    expect(await ask({ op: "open", owner: "me", handle: "64", path })).toMatchObject({ ok: true });
  });

  it("E6: 4 MiB go there and back, and many orders at once each have their own answer", async () => {
    const { folder, ask } = setUp();
    const text = "0123456789abcdef".repeat(256 * 1024);
    await ask({ op: "write", path: join(folder, "big") }, text);
    expect((await ask({ op: "read", path: join(folder, "big"), maxBytes: text.length })).text).toBe(text);
    const paths = Array.from({ length: 50 }, (_, i) => join(folder, `f${i}`));
    await Promise.all(paths.map((path) => ask({ op: "write", path }, path)));
    const read = await Promise.all(paths.map((path) => ask({ op: "read", path, maxBytes: 999 })));
    expect(read.map((answer) => answer.text)).toEqual(paths);
  });

  // Only root can run a helper as somebody else.
  it.runIf(isRoot)("E6: the helper has the rights of CHILD_USER, and no secret of the bridge", async () => {
    const { folder, ask } = setUp({ CHILD_USER: `${NOBODY}` });
    writeFileSync(join(folder, "roots"), "roots", { mode: 0o600 });
    expect(await ask({ op: "read", path: join(folder, "roots"), maxBytes: 99 })).toMatchObject({ code: "EACCES" });
    expect(await ask({ op: "write", path: join(folder, "mine") }, "x")).toMatchObject({ ok: true });
    expect(statSync(join(folder, "mine")).uid).toBe(NOBODY);
    expect(lstatSync(join(folder, "mine")).isFile()).toBe(true);
    const environment = await ask({ op: "read", path: "/proc/self/environ", maxBytes: 65_536 });
    expect(environment.text).toContain("HOME=");
    expect(environment.text).not.toContain("STDIO_");
  });
});
