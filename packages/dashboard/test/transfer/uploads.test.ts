// Files that are dropped or pasted: into a session of their own, over breaks, and their paths at the cursor. The sandbox's side is played.

import { describe, expect, test } from "vitest";
import { dropFiles } from "../browser.ts";
import { useBrowser } from "../fixture.ts";
import type { PlayedProcess } from "../server.ts";

const browser = useBrowser();

async function receiver(): Promise<PlayedProcess> {
  const found = () => [...browser.server.processes.entries()].find(([name]) => name.includes("/upload-"))?.[1];
  await expect.poll(() => found() !== undefined).toBe(true);
  const process = found();
  if (process === undefined) throw new Error("Cannot find the session of the upload");
  return process;
}

const isWhole = (process: PlayedProcess) => expect.poll(() => process.typed).toContain("upload-is-whole");

describe("files that are dropped", () => {
  test("go to where the shell is, and their paths are typed, with nothing that runs them", async () => {
    const page = await browser.attached();
    const shell = browser.server.process("main");
    shell.print("\x1b]633;P;Cwd=/work/a\\x3bb\x07there\r\n");
    await page.shows("there");
    await dropFiles(page, { "it's.txt": "hello" });
    const process = await receiver();
    await isWhole(process);
    expect(process.typed).toContain("hello");
    const query = browser.server.attaches.find((each) => each.get("session")?.startsWith("upload-"));
    expect([query?.get("cwd"), query?.get("tty"), query?.get("sandbox")]).toEqual(["/work/a;b", "0", "default"]);
    process.print("it's.txt\0/work/a;b/it's.txt\0");
    process.exit({ code: 0 });
    await expect.poll(() => shell.typed).toBe("'/work/a;b/it'\\''s.txt' ");
  });

  test("under a name that was taken: it is said what they are called, until somebody has seen it", async () => {
    const page = await browser.attached();
    await dropFiles(page, { "README.md": "new", other: "too" });
    const process = await receiver();
    await isWhole(process);
    process.print("README.md\0/w/README-2.md\0other\0/w/other\0");
    process.exit({ code: 0 });
    const told = page.page.getByRole("region", { name: "Upload" });
    await told.getByText("2 files uploaded. README.md was taken: it is README-2.md.", { exact: true }).waitFor();
    await told.getByRole("button", { name: "Dismiss" }).click();
    expect(await told.count()).toBe(0);
    await expect.poll(() => browser.server.process("main").typed).toBe("/w/README-2.md /w/other ");
  });

  test("are chosen as well: by a button, with the keyboard alone", async () => {
    const page = await browser.attached();
    const choosing = page.page.waitForEvent("filechooser");
    await page.page.getByRole("button", { name: "Upload" }).press("Enter");
    const files = [{ name: "chosen.txt", mimeType: "text/plain", buffer: Buffer.from("of my own choice") }];
    await (await choosing).setFiles(files);
    const process = await receiver();
    await isWhole(process);
    expect(process.typed).toContain("of my own choice");
  });

  test("arrive once, whatever breaks on the way", async () => {
    const page = await browser.attached();
    await dropFiles(page, { big: `<${"x".repeat(2_000_000)}>` });
    const process = await receiver();
    for (const length of [100_000, 1_000_000]) {
      await expect.poll(() => process.typedBytes.length).toBeGreaterThan(length);
      browser.server.cut();
    }
    await isWhole(process);
    expect(process.typed.match(/<x*>/g)?.map(({ length }) => length)).toEqual([2_000_002]);
  });

  test("that the sandbox does not take are told, and nothing is typed", async () => {
    const page = await browser.attached();
    await dropFiles(page, { a: "a" });
    const process = await receiver();
    await isWhole(process);
    process.exit({ code: 1 });
    await page.page.getByText("Not uploaded: exit 1").waitFor();
    expect(browser.server.process("main").typed).toBe("");
  });

  test("by who may only look on, or beside the terminal, go nowhere, and do not open in place of the page", async () => {
    browser.server.mode = "exclusive";
    const page = await browser.attached("/?session=main&renderer=dom&name=Ann");
    await page.button("Release");
    await page.waitForData("read-only", "true");
    await dropFiles(page, { a: "a" });
    const isRefused = (type: string) =>
      page.page.locator(".sbx-bar").evaluate((bar, type) => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File(["a"], "a"));
        return !bar.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
      }, type);
    expect([await isRefused("dragover"), await isRefused("drop")]).toEqual([true, true]);
    await page.state("attached");
    expect([...browser.server.processes.keys()]).toEqual(["default/main"]);
  });
});

test("a pasted picture is uploaded under a name of its own; text beside a picture is pasted as text", async () => {
  const page = await browser.attached();
  const paste = (text: string) =>
    page.page.locator(".xterm-helper-textarea").evaluate((textarea, text) => {
      const clipboardData = new DataTransfer();
      clipboardData.items.add(new File(["png"], "image.png", { type: "image/png" }));
      if (text !== "") clipboardData.setData("text/plain", text);
      textarea.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
    }, text);
  await paste("words");
  await expect.poll(() => browser.server.process("main").typed).toBe("words");
  await paste("");
  const process = await receiver();
  await isWhole(process);
  expect(process.typed).toMatch(/pasted-\d{8}-\d{6}\.png/);
});

test("the key that pastes text alone brings a picture too, of which the browser tells the page nothing", async () => {
  const page = await browser.attached();
  await page.page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.type("");
  await page.page.evaluate(async () => {
    const canvas = Object.assign(document.createElement("canvas"), { width: 2, height: 2 });
    const drawn = new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
    const picture = (await drawn) ?? new Blob();
    await navigator.clipboard.write([new ClipboardItem({ "image/png": picture })]);
  });
  await page.page.keyboard.press("Control+Shift+V");
  const process = await receiver();
  await isWhole(process);
  expect(process.typed).toMatch(/pasted-\d{8}-\d{6}\.png/);
  expect(process.typed).toContain("PNG");
  await page.page.evaluate(() => navigator.clipboard.writeText("words"));
  await page.page.keyboard.press("Control+Shift+V");
  await expect.poll(() => browser.server.process("main").typed).toBe("words");
});
