// Files out of a real sandbox, asked for in its shell and agreed to on the page; and files and folders into it, as a hand drops them.

import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { setUpBrowser } from "./support/fixture.ts";

const browser = setUpBrowser();

const hashOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

test("a folder is saved as an archive; what is not agreed to is not", async () => {
  const { tab, directory } = await browser.shell();
  mkdirSync(join(directory, "folder"));
  writeFileSync(join(directory, "folder", "x"), "content");
  await tab.run("sbx-download /etc/hostname folder");
  const question = tab.page.getByRole("region", { name: "Download" });
  await question.filter({ hasText: "/etc/hostname" }).getByRole("button", { name: "Ignore" }).click();
  const saved = tab.page.waitForEvent("download");
  await question.filter({ hasText: "/folder" }).getByRole("button", { name: "Save" }).click();
  const download = await saved;
  expect(download.suggestedFilename()).toBe("folder.tar");
  const listed = execFileSync("tar", ["tf", "-"], { input: await readFile(await download.path()) }).toString();
  expect(listed).toBe("./folder/\n./folder/x\n");
});

test("a folder that a hand drops arrives with all that is in it, where the shell is, and its path is typed", async () => {
  const { tab, directory } = await browser.shell();
  const own = await mkdtemp(join(tmpdir(), "sbx-dropped-"));
  mkdirSync(join(own, "it's a folder", "below"), { recursive: true });
  mkdirSync(join(own, "it's a folder", "empty"));
  const content = randomBytes(300_000);
  writeFileSync(join(own, "it's a folder", "below", "bytes.bin"), content);
  writeFileSync(join(own, "beside.txt"), "beside");
  mkdirSync(join(directory, "work"));
  await tab.run("cd work");
  await tab.run("pwd");
  await tab.find(/\/work$/);
  const screen = await tab.page.locator(".xterm-screen").boundingBox();
  const devTools = await tab.page.context().newCDPSession(tab.page);
  const data = {
    items: [],
    files: [join(own, "it's a folder"), join(own, "beside.txt")],
    dragOperationsMask: 1,
  };
  const at = { x: (screen?.x ?? 0) + 50, y: (screen?.y ?? 0) + 50, data };
  for (const type of ["dragEnter", "dragOver"] as const)
    await devTools.send("Input.dispatchDragEvent", { type, ...at });
  await tab.page.getByText("Drop to upload").waitFor();
  await devTools.send("Input.dispatchDragEvent", { type: "drop", ...at });
  // The line is longer than the screen is wide.
  const typed = async () => (await tab.lines()).join("\n");
  await expect.poll(typed).toContain("/work/beside.txt ");
  expect(await typed()).toContain("/work/it'\\''s a folder'");
  const there = join(directory, "work", "it's a folder");
  expect(hashOf(await readFile(join(there, "below", "bytes.bin")))).toBe(hashOf(content));
  expect(readdirSync(there).sort()).toEqual(["below", "empty"]);
  await rm(own, { recursive: true });
});
