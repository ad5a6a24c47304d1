// The entry that ssh-config prints, as OpenSSH itself reads it.

import { execFile } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cleanEnv, scratch } from "../fixture/cli.ts";
import { runHere } from "../fixture/here.ts";

const entryOf = async (...words: string[]) => (await runHere(["ssh-config", ...words], "", cleanEnv())).stdout;

/** What ssh starts for the host, word by word. */
async function startedBySsh(entry: string, host: string): Promise<string[]> {
  const folder = scratch();
  const [config, program, said] = ["config", "sbx-stdio", "said"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(config, entry, { mode: 0o600 });
  writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$@" >${said}\n`);
  chmodSync(program, 0o755);
  const env = { ...cleanEnv(), PATH: `${folder}:${process.env.PATH}` };
  // The proxy ends at once, and so does ssh.
  await new Promise((resolve) => execFile("ssh", ["-F", config, host, "true"], { env }, resolve));
  return readFileSync(said, "utf8").split("\n").slice(0, -1);
}

test("what is written with % in the address is what ssh hands on", async () => {
  const entry = await entryOf("https://h.example/a%20b%hc", "--sandbox", "dev", "--host", "box");
  expect(await startedBySsh(entry, "box")).toEqual([
    ...["ssh-proxy", "https://h.example/a%20b%hc", "--sandbox", "dev"],
  ]);
});

test.each([
  ["https://h.example", "  # The connection is encrypted and authenticated already"],
  ["https://localhost:8787", "  # The connection is encrypted and authenticated already"],
  ["http://localhost:8787", "  # The connection does not leave this machine"],
  ["http://h.example", "  # The connection is NOT encrypted"],
])("an entry for %s says how safe the way there is", async (address, words) => {
  const remarks = (await entryOf(address, "--sandbox", "dev")).split("\n").filter((line) => line.startsWith("  # "));
  expect(remarks[0]?.slice(0, words.length)).toBe(words);
  expect(remarks.join(" ").includes("encrypted and")).toBe(address.startsWith("https"));
});

test.each([
  ["--host", "a\n  ProxyCommand touch x"],
  ["--user", "root\nHost *"],
])("a line's end in %s would begin another line of the file: it is refused", async (option, value) => {
  const { code, stdout, stderr } = await runHere(["ssh-config", "https://h.example", option, value], "", cleanEnv());
  expect([code, stdout, stderr.split("\n")[0]]).toEqual([2, "", expect.stringContaining("line breaks")]);
});
