// Files out of a real sandbox: asked for in its shell, agreed to on the page.

import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { setUpBrowser } from "./support/fixture.ts";

const browser = setUpBrowser();

const hashOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

test("sbx-download in the shell asks on the page, and the file is saved byte for byte, over a cut", async () => {
  const { tab, directory } = await browser.shell();
  const content = randomBytes(12_000_000);
  writeFileSync(join(directory, "big file.bin"), content);
  await tab.run("sbx-download 'big file.bin'");
  await tab.shows("The page asks whether to save big file.bin");
  const saved = tab.page.waitForEvent("download");
  await tab.page.getByRole("region", { name: "Download" }).getByRole("button", { name: "Save it" }).click();
  await tab.page.getByText(/ of 12,000,000 bytes/).waitFor();
  browser.link.cut();
  await tab.state("waiting");
  browser.link.mend();
  const download = await saved;
  expect(download.suggestedFilename()).toBe("big file.bin");
  expect(hashOf(await readFile(await download.path()))).toBe(hashOf(content));
});

test("a folder is saved as an archive; what is not agreed to is not", async () => {
  const { tab, directory } = await browser.shell();
  mkdirSync(join(directory, "folder"));
  writeFileSync(join(directory, "folder", "x"), "content");
  await tab.run("sbx-download /etc/hostname folder");
  const question = tab.page.getByRole("region", { name: "Download" });
  await question.filter({ hasText: "/etc/hostname" }).getByRole("button", { name: "Ignore" }).click();
  const saved = tab.page.waitForEvent("download");
  await question.filter({ hasText: "/folder" }).getByRole("button", { name: "Save it" }).click();
  const download = await saved;
  expect(download.suggestedFilename()).toBe("folder.tar");
  const listed = execFileSync("tar", ["tf", "-"], { input: await readFile(await download.path()) }).toString();
  expect(listed).toBe("./folder/\n./folder/x\n");
});
