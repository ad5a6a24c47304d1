// CHILD_USER: what the bridge, which is root then, does for processes that are not, and what they can make it do.

import { chmodSync, chownSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { isRoot, NOBODY, refusedStart, run, SECRET, startBridgeProcess, temporary } from "../support/bridge.ts";

let root = "";

beforeEach(() => {
  root = temporary();
  chmodSync(root, 0o755);
});

async function start(env: Readonly<Record<string, string>>): Promise<string> {
  return (await startBridgeProcess({ childUser: "nobody", env })).url;
}

/** A directory below the root, and its parents as far as they are missing. */
function directory(path: string, owner: number, mode = 0o755): string {
  const all = join(root, path);
  mkdirSync(dirname(all), { recursive: true });
  mkdirSync(all, { mode });
  chmodSync(all, mode);
  chownSync(all, owner, owner);
  return all;
}

const shell = (url: string, script: string, asked?: Readonly<Record<string, string>>) =>
  run(url, ["sh", "-c", script], asked);
const ownerOf = (path: string) => statSync(path).uid;

// Only root may start a process as another user. For other users these tests don't exist, as skipped tests fail.
const describeAsRoot = isRoot ? describe : () => undefined;

describeAsRoot("CHILD_USER: a link never makes the bridge give away another directory", () => {
  test("where the start directory, or one above it, is a link, the bridge says so and doesn't start", async () => {
    const victim = directory("victim", 0);
    directory("victim/below", 0);
    symlinkSync(victim, join(root, "link"));
    for (const workspace of [join(root, "link"), join(root, "link/below")]) {
      const env = { STDIO_TOKEN: SECRET, CHILD_USER: "nobody" };
      const { code, said } = await refusedStart({ ...env, STDIO_WORKSPACE: workspace });
      expect([code, said]).toEqual([2, expect.stringMatching(/CHILD_USER can't be given .*: .* symbolic link/)]);
    }
    expect([ownerOf(victim), ownerOf(join(victim, "below"))]).toEqual([0, 0]);
  });

  test("nor where a process puts one in the place of the start directory", async () => {
    const victim = directory("victim", 0);
    const workspace = directory("home/work", 0);
    chownSync(dirname(workspace), NOBODY, NOBODY);
    const url = await start({ STDIO_WORKSPACE: workspace });
    const exchanged = await shell(url, `stat -c %u . && cd .. && mv work old && ln -s ${victim} work && echo done`);
    expect(exchanged).toBe(`${NOBODY}\ndone\n`);
    expect(await shell(url, "pwd -P")).toBe(`${victim}\n`);
    expect(ownerOf(victim)).toBe(0);
  });

  test("nor where one puts it in the place of another sandbox's directory, or of the directory of all", async () => {
    const victim = directory("victim", 0);
    directory("victim/third", 0);
    const boxes = directory("home/boxes", 0, 0o777);
    chownSync(dirname(boxes), NOBODY, NOBODY);
    const url = await start({ SANDBOX_ROOT: boxes });
    expect(await shell(url, `ln -s ${victim} ../second && stat -c %u .`, { sandbox: "first" })).toBe(`${NOBODY}\n`);
    await shell(url, "true", { sandbox: "second" });
    const exchange = `cd ../.. && mv boxes old && ln -s ${victim} boxes && echo done`;
    expect(await shell(url, exchange, { sandbox: "first" })).toBe("done\n");
    await shell(url, "true", { sandbox: "third" });
    expect([ownerOf(victim), ownerOf(join(victim, "third"))]).toEqual([0, 0]);
  });

  test("a directory that is the user's already may be reached through links", async () => {
    const workspace = directory("work", NOBODY);
    symlinkSync(workspace, join(root, "link"));
    const url = await start({ STDIO_WORKSPACE: join(root, "link") });
    expect(await shell(url, "pwd -P; touch mine && echo made")).toBe(`${workspace}\nmade\n`);
  });
});

describeAsRoot("CHILD_USER: nothing runs as root on the way to a process", () => {
  test("a variable that the loader heeds reaches the program alone, not what drops the privileges before it", async () => {
    const url = await start({ STDIO_WORKSPACE: directory("work", 0) });
    const written = await shell(url, 'echo "$LD_PRELOAD"', { env: "LD_PRELOAD=/no/such/library.so" });
    expect(written.match(/^\/no\/such\/library\.so$/gm)).toHaveLength(1);
    // Whoever heeds it says that there is no such library: env, which is the user's already, was given none.
    expect(written.match(/ld\.so/g)).toHaveLength(1);
  });

  test("the directory is entered as the user: none behind one that is root's alone", async () => {
    const url = await start({ STDIO_WORKSPACE: directory("work", 0) });
    const open = directory("private/open", 0);
    writeFileSync(join(open, "file"), "secret\n");
    chmodSync(dirname(open), 0o700);
    expect(await shell(url, "cat file", { cwd: open })).toMatch(
      /cannot change directory to .*open.*: Permission denied/,
    );
    chmodSync(dirname(open), 0o711);
    expect(await shell(url, "cat file", { cwd: open })).toBe("secret\n");
  });

  test("a program whose path has an equals sign, and odd arguments, arrive as they were given", async () => {
    const work = directory("work", 0);
    writeFileSync(join(work, "a=b"), '#!/bin/sh\nprintf "<%s>" "$@" "$X"\n', { mode: 0o755 });
    const url = await start({ STDIO_WORKSPACE: work });
    const written = await run(url, ["./a=b", "--", "-x", "c=d", ""], { env: "X=1=2 " });
    expect(written).toBe("<--><-x><c=d><><1=2 >");
  });
});
