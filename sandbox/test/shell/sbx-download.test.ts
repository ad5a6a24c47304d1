// `sbx-download` in the shell: asks the page for nothing but files that are there, and never into a pipe.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { marksOf, PROMPT, startShell } from "../support/shell-harness.ts";

const RC = `PS1='${PROMPT}'\n`;

/** The paths that the page was asked to save. */
const asked = (output: string) =>
  marksOf(output).flatMap((mark) => {
    const coded = /^633;P;SbxDownload=(.*)$/.exec(mark)?.[1];
    return coded === undefined ? [] : [Buffer.from(coded, "base64").toString()];
  });

test.each([
  ["bash", ".bashrc"],
  ["zsh", ".zshrc"],
  ["bash -l", ".bash_profile"],
])("in %s it names files and folders by their whole path, whatever is in it", async (command, file) => {
  const [cmd = "", ...args] = command.split(" ");
  const shell = await startShell([cmd, ...args], { [file]: RC });
  writeFileSync(join(shell.home, "a b;'ü"), "x");
  mkdirSync(join(shell.home, "folder"));
  await shell.line(`sbx-download "a b;'ü" folder /etc/passwd`);
  await shell.line("sbx-download nothing /dev/null; echo status $?");
  await shell.end();
  expect(asked(shell.output())).toEqual([join(shell.home, "a b;'ü"), join(shell.home, "folder"), "/etc/passwd"]);
  expect(shell.output()).toContain("not a readable file or folder: nothing");
  expect(shell.output()).toContain("not a readable file or folder: /dev/null");
  expect(shell.output()).toContain("status 1");
});

test("into a pipe it asks for nothing", async () => {
  const shell = await startShell(["bash"], { ".bashrc": RC });
  await shell.line("set -o pipefail; sbx-download /etc/passwd | cat; echo status $?");
  await shell.end();
  expect(asked(shell.output())).toEqual([]);
  expect(shell.output()).toContain("status 1");
});
