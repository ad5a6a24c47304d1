// Files out of a real sandbox, asked for in its shell and agreed to on the page; and files and folders into it, as a hand drops them.

import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { setUpBrowser } from "./support/fixture.ts";

const browser = setUpBrowser();

const hashOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

test("a folder is saved as an archive; what is not agreed to is not", async () => {
  const { tab, directory } = await browser.sameShell();
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
  const { tab, directory } = await browser.sameShell();
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

test("the files panel lists, opens, downloads and takes what is there, and types its path", async () => {
  const { tab, directory } = await browser.shell();
  mkdirSync(join(directory, "src", "deep"), { recursive: true });
  writeFileSync(join(directory, "src", "it's.txt"), "first line\nsecond line\n");
  writeFileSync(join(directory, "-rf"), "");
  writeFileSync(join(directory, "src", "deep", "sent.bin"), "was there");
  const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  writeFileSync(join(directory, "src", "y.txt"), Buffer.from(dot, "base64"));
  writeFileSync(join(directory, "src", "z.bin"), Buffer.alloc(3_000_000));
  const active =
    '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10" onload="top.ran = 1"><script>top.ran = 1</script></svg>';
  writeFileSync(join(directory, "src", "y.xml"), active);
  symlinkSync("src", join(directory, "linked"));
  await tab.page.getByRole("button", { name: "Files" }).click();
  const panel = tab.page.getByRole("complementary", { name: "Files" });
  const item = (name: string) => panel.getByRole("treeitem", { name, exact: true });
  await item("-rf").waitFor();
  expect(await panel.getByRole("treeitem").allTextContents()).toEqual(["linked", "src", "-rf0 bytes"]);

  // By keyboard: down to the second folder, into it, and to its last entry.
  await item("linked").focus();
  for (const key of ["ArrowDown", "ArrowRight"]) await tab.page.keyboard.press(key);
  await item("it's.txt").waitFor();
  for (const key of ["ArrowRight", "ArrowDown", "Enter"]) await tab.page.keyboard.press(key);
  const shown = tab.page.getByRole("dialog", { name: "it's.txt" });
  await shown.getByText("second line").waitFor();
  await shown.getByText(/^23 bytes · [A-Z][a-z]{2} +\d+ +\d\d:\d\d$/).waitFor();
  await shown.locator("pre.sbx-unwrapped").waitFor();
  await shown.getByRole("button", { name: "Wrap lines" }).click();
  await shown.locator("pre:not(.sbx-unwrapped)").waitFor();
  const saved = tab.page.waitForEvent("download");
  await shown.getByRole("button", { name: "Download" }).click();
  expect(await readFile(await (await saved).path(), "utf8")).toBe("first line\nsecond line\n");
  await shown.getByRole("button", { name: "Close" }).click();

  // By their bytes, whatever their names are. What an SVG would run does not run.
  for (const [name, pixels] of [
    ["y.txt", "1×1 pixels"],
    ["y.xml", "20×10 pixels"],
  ] as const) {
    // The second click is the dialog's, which it does not close.
    await item(name).dblclick();
    const dialog = tab.page.getByRole("dialog", { name });
    await dialog.getByText(pixels).waitFor();
    expect(await dialog.getByRole("img").evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
    await tab.page.keyboard.press("Escape");
  }
  expect(await tab.page.evaluate(() => "ran" in window)).toBe(false);
  await item("z.bin").click();
  await tab.page.getByRole("dialog", { name: "z.bin" }).getByText("Not text. 3.0 MB.").waitFor();
  await tab.page.keyboard.press("Escape");

  const menu = async (name: string, entry: string) => {
    await item(name).click({ button: "right" });
    await tab.page.getByRole("menuitem", { name: entry }).click();
  };
  const chosen = tab.page.waitForEvent("filechooser");
  await menu("deep", "Upload here…");
  const content = randomBytes(100_000);
  await (await chosen).setFiles([{ name: "sent.bin", mimeType: "application/octet-stream", buffer: content }]);
  await panel.getByRole("treeitem", { name: "sent-2.bin", selected: true }).waitFor();
  await tab.page.getByText("1 file uploaded. sent.bin was taken: it is sent-2.bin.", { exact: true }).waitFor();
  expect(hashOf(await readFile(join(directory, "src", "deep", "sent-2.bin")))).toBe(hashOf(content));
  await menu("it's.txt", "Type its path");
  await expect.poll(async () => (await tab.lines()).join("")).toContain("/src/it'\\''s.txt'");

  await menu("src", "Show this folder only");
  await item("linked").waitFor({ state: "detached" });
  rmSync(join(directory, "src"), { recursive: true });
  await panel.getByRole("button", { name: "Refresh" }).click();
  await expect.poll(() => panel.getByRole("tree").textContent()).toMatch(/^Cannot read: .*No such file/);
  await panel.getByRole("button", { name: "Parent folder" }).click();
  await item("-rf").waitFor();
});
