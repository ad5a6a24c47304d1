// cp: files and folders in and out, over cuts, with odd names, and gone on with after a kill.
import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { CLOSE } from "sandbox-stdio/core";
import { expect, test } from "vitest";
import { exitCode, startCli } from "../support/clients/cli.ts";
import { connect } from "../support/clients/client.ts";
import { makeTree, treeOf } from "../support/generators/trees.ts";
import { whileCut } from "../support/system/cutting.ts";
import { fresh, type Person, person, system } from "../support/system/system.ts";
import { LIMIT_MS, MOVING_MS, until } from "../support/system/wait.ts";

const copy = (who: Person, ...words: string[]) => exitCode(startCli(who, words, "cp", system.relayOrigin));
const scratch = () => mkdtempSync(join(system.dir, "cp-"));

/** What a command prints in the sandbox, whose folders are another machine's where it is a container. */
async function printed(who: Person, cmd: string, ...arg: string[]): Promise<Buffer> {
  // The last cut may have broken the way to it, of which the runtime knows by the next request: such a client does not come again by itself.
  return until(`${cmd} in the sandbox`, async () => {
    const client = await connect(who, { session: fresh("s"), cmd, arg });
    const { exit, code } = await client.end();
    if (code === CLOSE.unavailable) return undefined;
    expect(exit).toMatchObject({ code: 0 });
    return client.bytes(1);
  });
}

/** A folder of the sandbox, brought here by tar alone. */
async function treeThere(who: Person, folder: string): Promise<Record<string, string>> {
  const here = scratch();
  execFileSync("tar", ["-C", here, "-x"], { input: await printed(who, "tar", "-C", folder, "-c", ".") });
  return treeOf(here);
}

test("cp copies a folder in and out over cuts, whatever its names are", { timeout: MOVING_MS }, async () => {
  const who = await person();
  const here = scratch();
  await printed(who, "mkdir", "-p", here);
  makeTree(join(here, "tree"), 6);
  const into = await whileCut(who, copy(who, join(here, "tree"), `:${here}/there/`));
  expect(into.result).toBe(0);
  expect(await treeThere(who, join(here, "there/tree"))).toEqual(treeOf(join(here, "tree")));
  const back = await whileCut(who, copy(who, `:${here}/there/tree`, `${here}/back/`));
  expect(back.result).toBe(0);
  expect(treeOf(join(here, "back/tree"))).toEqual(treeOf(join(here, "tree")));
});

test("cp gives a file the name that is asked for, in and out, and leaves nothing beside it", async () => {
  const who = await person();
  const here = scratch();
  await printed(who, "mkdir", "-p", here);
  const name = "-rf ünï'\" back\\new *";
  writeFileSync(join(here, name), `this is ${name}`);
  expect(await copy(who, join(here, name), `:${here}/there/new ${name}`)).toBe(0);
  expect(await copy(who, `:${here}/there/new ${name}`, `${here}/back-${name}`)).toBe(0);
  expect(readFileSync(join(here, `back-${name}`), "utf8")).toBe(`this is ${name}`);
  const there = (await printed(who, "ls", "-A", "--quoting-style=literal", join(here, "there"))).toString();
  expect(there).toBe(`new ${name}\n`);
  const beside = `${(await printed(who, "ls", "-A", here)).toString()}${readdirSync(here).join("\n")}`;
  expect(beside).not.toContain("sbx-cp");
});

test("cp of what is not there fails, here and there", async () => {
  const who = await person();
  const here = scratch();
  expect(await copy(who, join(here, "none"), ":x")).toBe(255);
  expect(await copy(who, `:${here}/none`, join(here, "x"))).toBe(255);
});

test("cp --resume leaves out what is there with the same size and time, and mends the rest", async () => {
  const who = await person();
  const here = scratch();
  const source = join(here, "tree");
  makeTree(source, 7, 100_000);
  for (const [from, to, there] of [
    [source, `:${here}/in/`, join(here, "in/tree")],
    [`:${source}`, `${here}/out/`, join(here, "out/tree")],
  ] as const) {
    mkdirSync(join(there, ".."), { recursive: true });
    expect(await copy(who, from, to)).toBe(0);
    const { size, mtime } = statSync(join(there, "run.sh"));
    writeFileSync(join(there, "run.sh"), "x".repeat(size));
    utimesSync(join(there, "run.sh"), mtime, mtime);
    truncateSync(join(there, "large.bin"), 50_000);
    rmSync(join(there, "odd"), { recursive: true });
    expect(await copy(who, "--resume", from, to)).toBe(0);
    const [expected, found] = [treeOf(source), treeOf(there)];
    expect(readFileSync(join(there, "run.sh"), "utf8")).toBe("x".repeat(size));
    expect({ ...found, "run.sh": "" }).toEqual({ ...expected, "run.sh": "" });
  }
});

test("a cp that is killed leaves no whole-looking copy, and --resume finishes it", { timeout: MOVING_MS }, async () => {
  const who = await person();
  const here = scratch();
  makeTree(join(here, "tree"), 8, 12_000_000);
  const child = startCli(who, [join(here, "tree"), `:${here}/there`], "cp");
  const over = exitCode(child);
  const large = join(here, ".there.sbx-cp/tree/large.bin");
  // Often: it is not there for long.
  await until("the large file to come", () => statSync(large, { throwIfNoEntry: false }), LIMIT_MS, 10);
  child.kill("SIGKILL");
  await over;
  expect(statSync(join(here, "there"), { throwIfNoEntry: false })).toBeUndefined();
  expect(await copy(who, "--resume", join(here, "tree"), `:${here}/there`)).toBe(0);
  expect(treeOf(join(here, "there"))).toEqual(treeOf(join(here, "tree")));
});
