// Files and archives of `/v1/sandbox` (V4), and what hostile callers and hostile archives come to.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tarHeader } from "sandbox-stdio/core";
import { expect, onTestFinished, test } from "vitest";
import { archive } from "../../../sandbox/test/files/hostile-archives.ts";
import { ApiSandbox, refusedAs } from "../support/agents/sandbox-api.ts";
import { api, type Person, person, system } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

const MIB = 1024 * 1024;
const get = (box: ApiSandbox, path: string, who?: Person) => box.fetch("GET", `/file/${path}`, {}, who);
const put = (box: ApiSandbox, path: string, body: Uint8Array<ArrayBuffer> | string) =>
  box.fetch("PUT", `/file/${path}`, { body });

async function bytesOf(response: Response): Promise<Buffer> {
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return Buffer.from(await response.arrayBuffer());
}

/** Without a process its container might sleep meanwhile, and lose the workspace. @returns Once the sandbox is deleted. */
const awake = (box: ApiSandbox) => box.exec(["sleep", "3600"]);
const hydrate = (box: ApiSandbox, body: Buffer<ArrayBuffer>) => box.fetch("POST", "/hydrate", { body });
const listing = async (box: ApiSandbox) => (await box.outcome(["sh", "-c", "cd /workspace && find . | sort"])).stdout;

test("V4: a file is read and written whole, by its absolute path, whatever its bytes and its name", async () => {
  const box = await ApiSandbox.make(await person());
  const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, index) => index % 256));
  const name = "workspace/sub%20dir/%C3%A4%23%3F.bin";
  expect(await refusedAs(await put(box, name, bytes))).toEqual([404, "not_found"]);
  await box.outcome(["mkdir", "/workspace/sub dir"]);
  expect((await put(box, name, bytes)).status).toBe(200);
  expect(await bytesOf(await get(box, name))).toEqual(bytes);
  expect((await box.outcome(["cat", "/workspace/sub dir/ä#?.bin"])).stdout.length).toBeGreaterThan(0);
  expect((await put(box, name, "shorter")).status).toBe(200);
  expect((await bytesOf(await get(box, name))).toString()).toBe("shorter");
  expect((await put(box, `tmp/${box.id}`, "")).status).toBe(200);
  expect((await bytesOf(await get(box, `tmp/${box.id}`))).length).toBe(0);
  await box.outcome(["rm", `/tmp/${box.id}`]);
});

test("V4: links lead within /workspace and /tmp, and nowhere else, by `..` neither", async () => {
  const box = await ApiSandbox.make(await person());
  const script = `mkdir in; echo inside > in/file; ln -s in/file link; ln -s /workspace/in absolute; ln -s /etc out
    ln -s / root; ln -s ../../etc/passwd up; ln -s loop loop; ln -s /etc/new-file nowhere; mkfifo pipe`;
  await box.outcome(["sh", "-c", script], { cwd: "/workspace" });
  for (const path of ["workspace/link", "workspace/absolute/file", "workspace/in/..%2Fin%2Ffile"])
    expect((await bytesOf(await get(box, path))).toString()).toBe("inside\n");
  const outside = ["etc/passwd", "workspace/out/passwd", "workspace/root/etc/passwd", "workspace/up"];
  for (const path of [
    ...outside,
    "workspace/..%2Fetc%2Fpasswd",
    "workspace%2F..%2F..%2Fetc%2Fpasswd",
    "proc/self/environ",
  ])
    expect([path, await refusedAs(await get(box, path))]).toEqual([path, [403, "outside"]]);
  for (const path of ["etc/new-file", "workspace/out/new-file", "workspace/..%2Fnew-file"])
    expect([path, await refusedAs(await put(box, path, "x"))]).toEqual([path, [403, "outside"]]);
  // A link to nothing is not written through.
  expect((await put(box, "workspace/nowhere", "x")).status).toBeGreaterThanOrEqual(400);
  expect((await box.outcome(["ls", "/etc/new-file"])).exit).toEqual({ exit_code: 2 });
  expect(await refusedAs(await get(box, "workspace/loop"))).toEqual([400, "bad_path"]);
  expect(await refusedAs(await get(box, "workspace/in"))).toEqual([400, "not_regular"]);
  expect(await refusedAs(await get(box, "workspace/pipe"))).toEqual([400, "not_regular"]);
  expect(await refusedAs(await put(box, "workspace/pipe", "x"))).toEqual([400, "not_regular"]);
  expect(await refusedAs(await get(box, "workspace/none"))).toEqual([404, "not_found"]);
  expect(await refusedAs(await get(box, "workspace/%ff"))).toEqual([400, "bad_path"]);
  expect(await refusedAs(await get(box, "workspace/link", await person()))).toEqual([404, "not_found"]);
});

test("V4: more than 32 MiB is refused, and nothing of it written", async () => {
  const box = await ApiSandbox.make(await person());
  const most = new Uint8Array(32 * MIB);
  const running = awake(box);
  expect((await put(box, "workspace/most", most)).status).toBe(200);
  expect((await bytesOf(await get(box, "workspace/most"))).length).toBe(32 * MIB);
  expect(await refusedAs(await put(box, "workspace/more", new Uint8Array(32 * MIB + 1)))).toEqual([413, "too_long"]);
  expect(await refusedAs(await get(box, "workspace/more"))).toEqual([404, "not_found"]);
  await box.outcome(["sh", "-c", "head -c 1 /dev/zero >> /workspace/most"]);
  expect(await refusedAs(await get(box, "workspace/most"))).toEqual([413, "too_long"]);
  await box.delete();
  await running;
});

test("V4: what is persisted is what tar reads, links as links, and hydrates another sandbox to the same", async () => {
  const who = await person();
  const [box, other] = await Promise.all([ApiSandbox.make(who), ApiSandbox.make(who)]);
  const running = [awake(box), awake(other)];
  const long = `${"d".repeat(60)}/${"e".repeat(60)}`;
  const script = `mkdir -p ${long} empty skipped/deep; echo hello > ${long}/file; chmod 750 ${long}/file; ln -s ${long}/file link
    printf 'x' > "$(printf 'b\\377')"; seq 1 200000 > big; echo no > skipped/deep/file; ln big hard; mkfifo pipe; : > nothing`;
  await box.outcome(["sh", "-c", script], { cwd: "/workspace" });
  const packed = await bytesOf(await box.fetch("POST", "/persist?excludes=skipped%2Cnone"));
  const dir = mkdtempSync(join(tmpdir(), "sbx-persist-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  writeFileSync(join(dir, "a.tar"), packed);
  const names = execFileSync("tar", ["tf", "a.tar"], { cwd: dir }).toString().split("\n");
  expect(names.every((name) => !name.startsWith("/") && !name.includes("skipped") && !name.includes("pipe"))).toBe(
    true,
  );
  expect((await hydrate(other, packed as Buffer<ArrayBuffer>)).status).toBe(200);
  const all =
    "find . ! -name pipe ! -path './skipped*' | sort; readlink link; cksum big hard; stat -c %a link d*/e*/file; ls -b";
  const seen = async (one: ApiSandbox) =>
    (await one.outcome(["sh", "-c", all], { cwd: "/workspace" })).stdout.replace(/^(pipe|skipped)\n/gm, "");
  expect(await seen(other)).toBe(await seen(box));
  await Promise.all([box.delete(), other.delete(), ...running]);
});

test("V4: an archive is merged with what is there: files and links are replaced, folders gone into, other files kept", async () => {
  const box = await ApiSandbox.make(await person());
  const script = "mkdir sub; echo old > sub/file; echo kept > sub/kept; ln -s /etc out; ln -s /etc/passwd passwd";
  await box.outcome(["sh", "-c", script], { cwd: "/workspace" });
  const members = [
    { name: "sub/file", content: "new" },
    // Links that are there are replaced, not followed.
    { name: "out/hosts", content: "mine" },
    { name: "passwd", content: "mine" },
    { name: "./sub/link", kind: "link", target: "../passwd" },
    { name: "sub/again", kind: "hard link", target: "sub/file" },
  ] as const;
  const response = await hydrate(box, archive(...members));
  expect([response.status, await response.text()]).toEqual([200, '{"ok":true}']);
  const { stdout } = await box.outcome([
    "sh",
    "-c",
    "cd /workspace; cat sub/file sub/kept out/hosts passwd sub/link sub/again",
  ]);
  expect(stdout).toBe("newkept\nminemineminenew");
  expect((await box.outcome(["head", "-c", "4", "/etc/passwd"])).stdout).toBe("root");
});

test("V4: a hostile archive is refused with its member, and nothing of it is kept", async () => {
  const box = await ApiSandbox.make(await person());
  const before = await listing(box);
  const harmless = { name: "harmless", content: "x" };
  const response = await hydrate(box, archive(harmless, { name: "link", kind: "link", target: "/etc/passwd" }));
  const { error, code } = (await response.json()) as { error: string; code: string };
  expect([response.status, code, error]).toEqual([400, "bad_member", expect.stringContaining('"link"')]);
  expect(await refusedAs(await hydrate(box, archive(harmless).subarray(0, 512)))).toEqual([400, "bad_archive"]);
  const huge = Buffer.from(tarHeader({ name: "huge", kind: "file", size: 1024 * MIB + 1, mode: 0o644, modifiedAt: 1 }));
  expect(await refusedAs(await hydrate(box, huge))).toEqual([413, "too_long"]);
  expect(await listing(box)).toBe(before);
  const stranger = await person();
  const asked = ["/hydrate", "/persist"].map((path) => box.fetch("POST", path, { body: archive(harmless) }, stranger));
  for (const refused of await Promise.all(asked)) expect(await refusedAs(refused)).toEqual([404, "not_found"]);
});

test("V4: more than four archives at once are 429, and those whose callers go away are ended", async () => {
  const box = await ApiSandbox.make(await person());
  const gone = new AbortController();
  const bytes = archive({ name: "f", content: "x" });
  const begin = () => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writing = writable.getWriter().write(bytes.subarray(0, 100));
    const init = { body: readable, duplex: "half", signal: gone.signal } as RequestInit;
    return Promise.allSettled([writing, box.fetch("POST", "/hydrate", init)]);
  };
  const begun = [begin(), begin(), begin(), begin()];
  const unpacking = async () => [...(await listing(box)).matchAll(/^\.\/\.sbx-hydrate-\d+-(\d+)-/gm)];
  await until("four are unpacked", async () => (await unpacking()).length === 4);
  // They don't see that their input ends.
  for (const [, pid] of await unpacking()) process.kill(Number(pid), "SIGSTOP");
  const refused = await box.fetch("POST", "/persist");
  expect(refused.headers.get("Retry-After")).toBe("5");
  expect(await refusedAs(refused)).toEqual([429, "too_many_archives"]);
  gone.abort();
  await Promise.all(begun);
  await until("they have ended", async () => (await box.fetch("POST", "/persist")).status === 200);
  expect((await box.fetch("POST", "/hydrate", { body: bytes })).status).toBe(200);
  expect(await listing(box)).toBe(".\n./f\n");
});

test("what is done with files is on the tenant's record, without their content", async () => {
  const who = await person();
  const box = await ApiSandbox.make(who);
  await put(box, "workspace/file", "a secret");
  await get(box, "etc/passwd");
  const admin = await person({ ...who, scope: "sandbox:admin sandbox:exec sandbox:connect" });
  const text = await (await api(admin, "/api/audit")).text();
  expect(text).not.toContain("a secret");
  const records = (JSON.parse(text) as { records: { type: string }[] }).records.filter(({ type }) => type === "file");
  expect(records).toMatchObject([
    { operation: "write", path: "/workspace/file", bytes: 8, outcome: "ok", sandbox: box.id },
    { operation: "read", path: "/etc/passwd", bytes: 0, outcome: "EOUTSIDE" },
  ]);
  expect(system.origin).toMatch(/^http/);
});
