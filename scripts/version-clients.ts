// Exercises the clients of one version at a server of another: attach, exit, pipe over a restart, share, HTTP, the page. Each step
// throws if it fails, and reports a line.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, chromium } from "playwright-core";
import { childEnv } from "../packages/local/src/base/env.ts";
import { findChromium } from "../packages/local/src/base/programs.ts";
import type { System } from "../packages/local/src/system/system.ts";

/** Installed packages of one version. */
export type Clients = { readonly name: string; readonly home: string };
export type Place = Pick<System, "origin" | "mintToken">;

type Ran = { readonly code: number | null; readonly stdout: Buffer; readonly stderr: string };

const SANDBOX = "versions";
const PIPED_BYTES = 3 * 1024 * 1024;
const LIMIT_MS = 120_000;
const TICKS = 40;

function start(clients: Clients, { origin }: Place, token: string, args: readonly string[]): ChildProcess {
  const bin = join(clients.home, "node_modules/.bin/sbx-stdio");
  return spawn(process.execPath, [bin, ...args], {
    env: childEnv({ SBX_TOKEN: token, SBX_TOKEN_ORIGIN: origin }),
    timeout: LIMIT_MS,
  });
}

async function ended(child: ChildProcess): Promise<Ran> {
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
  child.stdout?.on("data", (chunk: Buffer) => stdout.push(chunk));
  child.stderr?.on("data", (chunk: Buffer) => stderr.push(chunk));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  return { code, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() };
}

/** @returns A line for each step that passed. @throws {Error} At the first step that fails. */
export async function meet(clients: Clients, place: Place, restart: () => Promise<void>): Promise<string[]> {
  const [alice, bob] = [await place.mintToken(), await place.mintToken({ sub: "bob" })];
  const lines: string[] = [];
  const run = (args: readonly string[], input?: Uint8Array, token = alice) => {
    const child = start(clients, place, token, args);
    child.stdin?.on("error", () => undefined); // The exit code shows it.
    child.stdin?.end(input);
    return ended(child);
  };
  const there = [place.origin, "--sandbox", SANDBOX];

  const exit = await run([...there, "--", "sh", "-c", "echo out; echo err >&2; exit 7"]);
  assert.deepEqual([exit.code, exit.stdout.toString(), exit.stderr], [7, "out\n", "err\n"]);
  lines.push("attach and exit");

  const bytes = randomBytes(PIPED_BYTES);
  const pipe = start(clients, place, alice, [...there, "--", "sh", "-c", "head -c 1000; sleep 2; cat"]);
  const piping = ended(pipe);
  const begun = once(pipe.stdout ?? pipe, "data");
  pipe.stdin?.end(bytes);
  await begun;
  await restart();
  const piped = await piping;
  const hash = (data: Uint8Array) => createHash("sha256").update(data).digest("hex");
  assert.deepEqual([piped.code, piped.stdout.length, hash(piped.stdout)], [0, bytes.length, hash(bytes)], piped.stderr);
  lines.push(`resume: ${PIPED_BYTES} bytes both ways over kill -9 of the Worker`);

  const session = `shared-${clients.name}-${Date.now()}`;
  const owner = start(clients, place, alice, [
    ...there,
    "--session",
    session,
    "-T",
    "--",
    "sh",
    "-c",
    "read x; echo said $x",
  ]);
  const owned = ended(owner);
  const link = await shareLink(() => run(["share", ...there, "--session", session]));
  const viewer = run([link], undefined, bob);
  owner.stdin?.end("it\n");
  for (const { code, stdout, stderr } of [await owned, await viewer]) {
    assert.deepEqual([code, stdout.toString()], [0, "said it\n"], stderr);
  }
  lines.push("share: a link opened, and the same output and exit");

  const library = await import(
    pathToFileURL(join(clients.home, "node_modules/sandbox-stdio/dist/core/entry/client.js")).href
  );
  const box = library.sandbox(place.origin, { token: alice, sandbox: SANDBOX });
  assert.deepEqual((await box.run({ command: "seq 42 | wc -l" })).stdout, "42\n");
  const shell = box.session(`typed-${session}`);
  await shell.create({ cmd: "sh", tty: true });
  const { outputOffset } = await shell.write({ text: "echo it $((40 + 2)) works", enter: true });
  const { outcome, match } = await shell.wait({ until: { match: "it (\\d+) works" }, from: outputOffset });
  assert.deepEqual([outcome, match.groups], ["met", ["42"]]);
  const cat = box.session(`open-${session}`);
  await cat.create({ cmd: "cat" });
  await cat.write({ text: "abc", eof: true });
  assert.equal((await cat.wait({ until: { exit: true } })).outcome, "met");
  assert.equal((await cat.read({ from: 0 })).output, "abc");
  await shell.end();
  const job = library.connect(place.origin, { token: alice, sandbox: SANDBOX, cmd: "sort", args: ["-r"] });
  const input = new Blob(["one\n", "two\n"]).stream();
  const [sorted] = await Promise.all([new Response(job.stdout).text(), input.pipeTo(job.stdin)]);
  assert.deepEqual([sorted, (await job.exited).code], ["two\none\n", 0]);
  lines.push("library: run, write, wait, read, open input, connect()");
  return lines;
}

/** Retries: the session exists only once its owner has attached. */
async function shareLink(ask: () => Promise<Ran>): Promise<string> {
  for (const untilMs = Date.now() + LIMIT_MS; ; ) {
    const { code, stdout, stderr } = await ask();
    if (code === 0) return stdout.toString().trim();
    if (Date.now() > untilMs) throw new Error(`No link: ${stderr}`);
  }
}

/** Attaches a command line and a page to sessions. @returns A check that both go on once the server has been replaced. */
export async function attached(clients: Clients, place: Place): Promise<{ goOn(): Promise<string[]> }> {
  const token = await place.mintToken();
  const script = `i=0; while [ $i -lt ${TICKS} ]; do i=$((i+1)); echo tick $i; sleep 0.5; done; exit 9`;
  const ticking = start(clients, place, token, [place.origin, "--sandbox", SANDBOX, "-n", "--", "sh", "-c", script]);
  const ticked = ended(ticking);
  const browser = await chromium.launch({ executablePath: findChromium() ?? "", args: ["--no-sandbox"] });
  try {
    const page = await browser.newPage();
    const address = `${place.origin}/?sandbox=${SANDBOX}&session=page-${clients.name}&renderer=dom`;
    await page.goto(address);
    await page.getByRole("link", { name: "Log in" }).click();
    await page.getByRole("button", { name: "Continue as alice" }).click();
    const connected = () => page.locator('.sbx-terminal[data-state="attached"]').waitFor();
    const types = async (sum: string, shown: string) => {
      await page.locator(".xterm-helper-textarea").focus();
      await page.keyboard.type(`echo ${sum}\n`);
      await page.locator(".xterm-rows", { hasText: shown }).waitFor();
    };
    await connected();
    // The snapshot of a PTY in this mode is another one since kitty's keyboard protocol is known.
    await types("here $((40 + 2)); printf '\\033[>1u'", "here 42");
    const reload = async (shown: string) => {
      await page.goto(address);
      await connected();
      await page.locator(".xterm-rows", { hasText: shown }).waitFor();
    };
    return { goOn: () => goOn(browser, ticked, connected, types, reload) };
  } catch (error) {
    ticking.kill();
    await browser.close();
    throw error;
  }
}

async function goOn(
  browser: Browser,
  ticked: Promise<Ran>,
  connected: () => Promise<void>,
  types: (sum: string, shown: string) => Promise<void>,
  reload: (shown: string) => Promise<void>,
): Promise<string[]> {
  try {
    await connected();
    await types("still $((40 + 3))", "still 43");
    // The new Worker's page, with the screen from the old bridge.
    await reload("still 43");
    await types("again $((40 + 4))", "again 44");
    const { code, stdout, stderr } = await ticked;
    const expected = Array.from({ length: TICKS }, (_, i) => `tick ${i + 1}\n`).join("");
    assert.deepEqual([code, stdout.toString()], [9, expected], stderr);
    return ["the page types on in its shell, and after a reload", "the command line got every line once, and the exit"];
  } finally {
    await browser.close();
  }
}
