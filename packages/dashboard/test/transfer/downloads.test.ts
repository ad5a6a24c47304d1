// Files that a person takes out of the sandbox, whose side is played: asked for, over breaks, whole or not at all.

import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { tarEnd, tarHeader } from "sandbox-stdio/core";
import { afterEach, describe, expect, test } from "vitest";
import type { TerminalPage } from "../browser.ts";
import { useOnePage } from "../fixture.ts";
import type { PlayedProcess } from "../server.ts";

const browser = useOnePage();
// Each test finds its own downloads alone.
afterEach(() => {
  for (const name of senders()) browser.server.processes.delete(name);
});

const request = (path: string) => `\x1b]633;P;SbxDownload=${Buffer.from(path).toString("base64")}\x07`;
const question = (page: TerminalPage) => page.page.getByRole("region", { name: "Download" });

const senders = () => [...browser.server.processes.keys()].filter((name) => name.includes("/download-"));

/** @param count How many there are with it. */
async function sender(count = 1): Promise<PlayedProcess> {
  await expect.poll(() => senders().length).toBe(count);
  const process = browser.server.processes.get(senders().at(-1) ?? "");
  if (process === undefined) throw new Error("Cannot find the session of the download");
  return process;
}

/** Waits until the page has this much of it. */
const received = (page: TerminalPage, bytes: number) =>
  expect.poll(() => page.page.getByRole("progressbar").getAttribute("value")).toBe(String(bytes));

describe("a file that a program offers", () => {
  test("is fetched only after a yes, and saved whole, whatever breaks on the way", async () => {
    const page = await browser.blank();
    const shell = browser.server.process("main");
    shell.print(`${request("/work/big file.bin")}asked\r\n`);
    await page.shows("asked");
    expect(await question(page).locator("pre").textContent()).toBe("/work/big file.bin");
    expect(senders()).toEqual([]);
    const saved = page.page.waitForEvent("download");
    await question(page).getByRole("button", { name: "Save" }).click();
    const process = await sender();
    const query = browser.server.attaches.findLast((each) => each.get("session")?.startsWith("download-"));
    expect([query?.get("cmd"), query?.get("tty"), query?.getAll("arg").at(-1)]).toEqual([
      "sh",
      "0",
      "/work/big file.bin",
    ]);
    const content = Buffer.alloc(3_000_000, "0123456789");
    process.print(`file ${content.length}\n`);
    for (let at = 0; at < content.length; at += 1_000_000) {
      process.print(content.subarray(at, at + 1_000_000));
      await received(page, at + 1_000_000);
      if (at < 2_000_000) browser.server.cut();
    }
    process.exit({ code: 0 });
    const download = await saved;
    expect(download.suggestedFilename()).toBe("big file.bin");
    expect(Buffer.compare(await readFile(await download.path()), content)).toBe(0);
    await page.page.locator(".xterm-helper-textarea:focus").waitFor({ state: "attached" });
    await page.state("attached"); // Its own connection was cut, too, and keys that are typed meanwhile are discarded.
    await page.page.keyboard.type("x"); // The terminal has the keyboard back.
    await expect.poll(() => shell.typed).toBe("x");
  });

  test("is not fetched after a no, and each of several is asked about", async () => {
    const page = await browser.blank();
    const shell = browser.server.process("main");
    shell.print(`${request("/one")}${request("/two")}${request("/one")}asked\r\n`);
    await page.shows("asked");
    await question(page).filter({ hasText: "/one" }).getByRole("button", { name: "Ignore" }).click();
    await question(page).filter({ hasText: "/two" }).getByRole("button", { name: "Ignore" }).click();
    await question(page).waitFor({ state: "detached" });
    expect(senders()).toEqual([]);
  });

  test("before the page came, or before a viewer, is not asked about", async () => {
    const process = browser.server.process("before");
    process.print(request("/old"));
    const page = await browser.attached("/?session=before&renderer=dom");
    process.print("live\r\n");
    await page.shows("live");
    expect(await question(page).count()).toBe(0);
    const viewer = await browser.attached("/?session=before&renderer=dom&role=viewer");
    process.print(`${request("/new")}newer\r\n`);
    await viewer.shows("newer");
    await question(page).waitFor();
    expect(await question(viewer).count()).toBe(0);
  });
});

describe("a path in the output", () => {
  const choose = async (page: TerminalPage, path: string) => {
    browser.server.process("main").print(`\x1b]633;P;Cwd=/work\x07${path}\r\n`);
    await page.shows(path);
    const box = await page.page.locator(".xterm-screen").boundingBox();
    if (box === null) throw new Error("Cannot find the screen");
    await page.page.keyboard.down("Control");
    await page.page.mouse.move(box.x + 200, box.y + 200);
    await page.page.mouse.move(box.x + 12, box.y + 8, { steps: 4 });
    await page.page.mouse.click(box.x + 12, box.y + 8);
    await page.page.keyboard.up("Control");
    await page.page.getByRole("dialog").getByRole("button", { name: "Download" }).click();
  };

  test("is downloaded from its dialog, from where the shell is", async () => {
    const page = await browser.blank();
    const saved = page.page.waitForEvent("download");
    await choose(page, "src/main.ts");
    const process = await sender();
    const query = browser.server.attaches.findLast((each) => each.get("session")?.startsWith("download-"));
    expect([query?.get("cwd"), query?.getAll("arg").at(-1)]).toEqual(["/work", "src/main.ts"]);
    process.print("file 5\nhello");
    process.exit({ code: 0 });
    expect((await saved).suggestedFilename()).toBe("main.ts");
    expect(await readFile(await (await saved).path(), "utf8")).toBe("hello");
  });

  test("that is not sent whole is not saved, and that is said; a person who cancels ends its command", async () => {
    const page = await browser.blank();
    const shell = browser.server.process("main");
    const sent = [
      ["file 9\nhello", 0, "changed during the download, or data was lost"],
      ["", 1, "Not downloaded: src/main.ts: exit 1"],
      ["file 9999999999\nhello", undefined, "is larger than 1 GiB"],
      ["gibberish\n", undefined, "changed during the download, or data was lost"],
      [`folder\n${"x".repeat(512)}`, undefined, "changed during the download, or data was lost"],
      ["folder\n", 0, "changed during the download, or data was lost"],
    ] as const;
    for (const [index, [text, code, words]] of sent.entries()) {
      shell.print("\x1bc");
      await choose(page, "src/main.ts");
      const process = await sender(index + 1);
      process.print(text);
      if (code !== undefined) process.exit({ code });
      await page.page.getByRole("status").filter({ hasText: words }).waitFor();
      await page.button("Dismiss");
      await page.page.keyboard.type("x");
      await expect.poll(() => shell.typed).toBe("x".repeat(index + 1));
    }
    shell.print("\x1bc");
    await choose(page, "src/main.ts");
    const process = await sender(sent.length + 1);
    process.print("file 9\nhello");
    await page.page.getByText("5 of 9 bytes").waitFor();
    await page.button("Cancel");
    await expect.poll(() => process.session.exit).toEqual({ code: 129, signal: "SIGHUP" });
  });

  test("that is a folder is saved without what would lead out of it, and that is said", async () => {
    const page = await browser.blank();
    const saved = page.page.waitForEvent("download");
    await choose(page, "src/main.ts");
    const process = await sender();
    const more = { kind: "file", size: 0, mode: 0o644, modifiedAt: 0 } as const;
    const names = ["../.bashrc", "x", "/etc/passwd"].map((name) => tarHeader({ ...more, name }));
    process.print("folder\n");
    process.print(Buffer.concat([...names, tarEnd()]));
    process.exit({ code: 0 });
    const download = await saved;
    expect(download.suggestedFilename()).toBe("main.ts.tar");
    const listed = execFileSync("tar", ["tf", await download.path()]).toString();
    expect(listed).toBe("./main.ts/\n./main.ts/x\n");
    const words = "Downloaded src/main.ts without 2 members of the archive: ../.bashrc points outside of the folder";
    await page.page.getByRole("status").filter({ hasText: words }).waitFor();
    await page.button("Dismiss");
  });
});
