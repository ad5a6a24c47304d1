// The pictures in the README, taken where SBX_SCREENSHOTS=1 asks for them.
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { directoryOf, setUpBrowser } from "../support/fixture.ts";
import type { Tab } from "../support/tab.ts";
import { agree, paned, shows } from "../support/tmux-panes.ts";

const browser = setUpBrowser();

const DOCS = fileURLToPath(new URL("../../../docs/", import.meta.url));
const SIZE = { width: 1200, height: 750 };
const MAX_BYTES = 150 * 1024;

const COLOURS = String.raw`#!/bin/bash
# 16 colours, then 216 of the 256, then as many as there are
for i in {0..15}; do printf '\e[48;5;%dm    ' $i; done; printf '\e[0m\n\n'
for row in {0..5}; do
  for x in {0..35}; do printf '\e[48;5;%dm  ' $((16 + row * 36 + x)); done
  printf '\e[0m\n'
done
echo
for row in {0..3}; do
  for x in {0..71}; do
    printf '\e[48;2;%d;%d;%dm ' $((255 - x * 3)) $((80 + x * 2 - row * 25)) $((60 + x * 2 + row * 17))
  done
  printf '\e[0m\n'
done
printf '\n\e[1mbold\e[0m \e[3mitalic\e[0m \e[4munderlined\e[0m \e[9mstruck\e[0m \e[7minverse\e[0m\n'
`;

const GREET = `// Says hello, and counts to whom.
import { createInterface } from "node:readline";

type Guest = { readonly name: string; readonly visits: number };

const guests = new Map<string, Guest>();

export function greet(name: string): string {
  const visits = (guests.get(name)?.visits ?? 0) + 1;
  guests.set(name, { name, visits });
  return visits === 1 ? \`Hello, \${name} 👋\` : \`Back again, \${name}? (\${visits} visits)\`;
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(greet(line.trim()));
}
`;

/** A shell with something to look at, and a prompt as people have it. */
async function furnished(sandbox: string, query = "") {
  const shell = await browser.shell({ sandbox, viewport: SIZE, renderer: "webgl", query });
  const { tab, directory } = shell;
  for (const name of ["docs", "src"]) mkdirSync(join(directory, name));
  writeFileSync(join(directory, "greet.ts"), GREET);
  writeFileSync(join(directory, "notes.md"), "# Notes\n");
  writeFileSync(join(directory, "colours"), COLOURS);
  chmodSync(join(directory, "colours"), 0o755);
  await tab.run(String.raw`PS1='\[\e[1;32m\]alice@sandbox\[\e[0m\]:\[\e[1;34m\]\w\[\e[0m\]$ '; clear`);
  await atPrompt(tab);
  return shell;
}

/** Waits until the last thing on the screen is the prompt. */
async function atPrompt(tab: Tab): Promise<void> {
  await tab.page.waitForFunction(() => {
    const { active } = window.sbx.terminal.buffer;
    const line = active.getLine(active.baseY + active.cursorY)?.translateToString();
    return line?.trimEnd() === "alice@sandbox:~$";
  });
}

async function picture(tab: Tab, name: string): Promise<void> {
  const png = await tab.page.screenshot({ caret: "initial" });
  writeFileSync(join(DOCS, name), png);
  // The header chunk of a PNG holds its size.
  expect({ width: png.readUInt32BE(16), height: png.readUInt32BE(20) }).toEqual(SIZE);
  expect(png.length).toBeLessThan(MAX_BYTES);
}

test("a picture of a shell in colour", async () => {
  const { tab } = await furnished("dev");
  for (const command of [
    "ls -l --color --time-style=+ | tail -n +2",
    "./colours",
    "grep -n --color=always greet greet.ts",
    "echo 'emoji take two cells each: 🚀 ✅ 👋 🦀'",
    "stty size",
  ]) {
    await tab.run(command);
    await atPrompt(tab);
  }
  await tab.find(/^\d+ \d+$/);
  await picture(tab, "shell.png");
});

test("a picture of vim", async () => {
  const { tab } = await furnished("editor");
  await tab.run("vim -c 'syntax on' -c 'set number background=dark' greet.ts");
  await tab.find(/^\s*1 \/\/ Says hello/);
  await tab.type("9Go");
  await tab.type("if (visits > 9) console.log(name, 'lives here');");
  await tab.find(/lives here/);
  await picture(tab, "vim.png");
});

test("a picture of a connection that is lost", async () => {
  const { tab } = await furnished("build");
  await tab.run("for n in {1000000001..1000000400}; do factor $n; sleep 0.02; done");
  await tab.page.waitForFunction(() => window.sbx.terminal.buffer.active.cursorY > 30);
  browser.link.cut();
  await tab.says(/^Connection lost: retrying in/);
  await tab.type("ls");
  await tab.waitForData("unsent-keys", 2);
  await picture(tab, "reconnecting.png");
});

test("a picture of a session that is shared", async () => {
  const { tab } = await furnished("pair", "&mode=exclusive&name=Alice");
  const address = (name: string, more = "") => `/?sandbox=pair&session=main&renderer=dom&name=${name}${more}`;
  const bob = await browser.open(await browser.member({ viewport: SIZE }), address("Bob"));
  await bob.state("attached");
  await (await browser.open(await browser.member(), address("Cleo", "&role=viewer"))).state("attached");
  for (const command of ["npm --version", "grep -n --color=always visits greet.ts"]) {
    await tab.run(command);
    await atPrompt(tab);
  }
  await bob.button("Ask");
  await tab.page.getByRole("region", { name: "Bob asks for the keyboard" }).waitFor();
  await picture(tab, "sharing.png");
});

test("a picture of a session with panes", async () => {
  const { tab, tmux } = await paned(browser, { sandbox: "work", viewport: SIZE });
  const directory = directoryOf("work");
  writeFileSync(join(directory, "greet.ts"), GREET);
  for (const name of ["docs", "src"]) mkdirSync(join(directory, name));
  const here = ["-c", "#{pane_current_path}"];
  tmux.run("split-window", "-h", "-t", "%0", ...here);
  tmux.run("split-window", "-v", "-t", "%1", ...here);
  tmux.run("new-window", "-d", "-n", "logs", "cat");
  tmux.run("resize-pane", "-t", "%0", "-x", "82");
  await agree(tab, tmux);
  const type = (id: string, command: string) => tmux.run("send-keys", "-t", id, command, "Enter");
  for (const id of ["%0", "%1", "%2"]) {
    type(id, String.raw`PS1='\[\e[1;32m\]alice@work\[\e[0m\]:\[\e[1;34m\]\w\[\e[0m\]$ '; clear`);
    await shows(tab, id, /^alice@work:~\$$/);
  }
  type("%0", "vim -c 'syntax on' -c 'set number background=dark' greet.ts");
  await shows(tab, "%0", /^\s*1 \/\/ Says hello/);
  type("%1", "ls -l --color --time-style=+ | tail -n +2; grep -n --color=always visits greet.ts");
  await shows(tab, "%1", /^11:/);
  type("%2", "for n in {1000000001..1000000012}; do factor $n; done");
  await shows(tab, "%2", /^1000000012:/);
  tmux.run("select-pane", "-t", "%2");
  await tab.page.locator('[data-tmux-pane="%2"][data-focus="true"]').waitFor();
  await agree(tab, tmux);
  await picture(tab, "panes.png");
});
