// Links in the output that nothing marks as such, and keys that are seen before they are echoed, in a real browser.

import { describe, expect, test } from "vitest";
import type { TerminalPage } from "../browser.ts";
import { useBrowser, useOnePage } from "../fixture.ts";

/** Clicks on a text of the screen's first row that holds it. */
async function clickOn(page: TerminalPage, text: string, modifiers: "Control"[] = []): Promise<void> {
  const box = await page.page.evaluate((text) => {
    const rows = [...document.querySelectorAll(".xterm-rows > div")];
    const row = rows.find((each) => each.textContent.replaceAll("\u00a0", " ").includes(text));
    const cell = Number(document.querySelector<HTMLElement>(".sbx-terminal")?.dataset.cols);
    const { left, top, width, height } = row?.getBoundingClientRect() ?? new DOMRect();
    const column = (row?.textContent.replaceAll("\u00a0", " ").indexOf(text) ?? 0) + 1;
    return { x: left + (column * width) / cell, y: top + height / 2 };
  }, text);
  await page.page.mouse.move(box.x, box.y);
  for (const modifier of modifiers) await page.page.keyboard.down(modifier);
  await page.page.mouse.move(box.x + 1, box.y);
  await page.page.mouse.click(box.x, box.y);
  for (const modifier of modifiers) await page.page.keyboard.up(modifier);
}

describe("links", () => {
  const browser = useOnePage();

  async function printed(line: string): Promise<TerminalPage> {
    const page = await browser.blank();
    // What was under the pointer is another text now.
    await page.page.mouse.move(450, 250);
    browser.server.process("main").print(`${line}\r\nend\r\n`);
    await page.shows("end");
    return page;
  }

  test("how slow the link to the server is, is said on demand", async () => {
    // A key is timed where nothing was put out just before it.
    const page = await browser.attached();
    const process = browser.server.process("main");
    await page.type("");
    await page.page.keyboard.press("Control+Shift+L");
    await page.page.getByText("No key measured yet; 0 bytes to draw").waitFor();
    process.onInput = (text) => process.print(text);
    await page.page.keyboard.type("a");
    await page.shows("a");
    const said = async () => {
      await page.page.keyboard.press("Control+Shift+L");
      return page.page.getByText(/^Key round trip/).innerText();
    };
    // The text is of the moment when it is asked for.
    await expect.poll(said).toMatch(/^Key round trip \d+ ms; 0 bytes to draw$/);
  });

  test("a path is a link with Ctrl alone; an address of the sandbox never opens on this machine: what leads there is said", async () => {
    const page = await printed("error in src/main.ts:12:5\r\nLocal: http://localhost:5173/app and localhost:3000");
    await clickOn(page, "src/main.ts");
    expect(await page.page.locator("dialog").count()).toBe(0);
    await clickOn(page, "src/main.ts", ["Control"]);
    await page.page
      .getByRole("dialog", { name: "Path in the sandbox" })
      .getByText("src/main.ts:12:5", { exact: true })
      .waitFor();
    await page.page.keyboard.press("Escape");
    await clickOn(page, "http://localhost", ["Control"]);
    await page.page.getByText(`sbx-stdio forward ${browser.server.url} --sandbox default 5173`).waitFor();
    await page.page.getByRole("button", { name: "Close" }).click();
    await clickOn(page, "localhost:3000", ["Control"]);
    await page.page.getByRole("dialog", { name: "Port 3000 of the sandbox" }).waitFor();
    await page.page.keyboard.press("Escape");
    expect(page.page.context().pages().length).toBe(1);
  });

  test("a second click on the same place asks again", async () => {
    const page = await printed("see http://elsewhere.example/ there");
    for (const _ of [1, 2]) {
      await clickOn(page, "http://elsewhere");
      await page.page.getByRole("dialog", { name: "Open elsewhere.example?" }).waitFor();
      await page.page.keyboard.press("Escape");
      await page.page.getByRole("dialog").waitFor({ state: "detached" });
    }
  });

  test("an address opens at once with Ctrl, and is asked about without", async () => {
    // Another name of the machine that the test's server runs on: by its usual ones it would be the sandbox's.
    const address = browser.server.url.replace("127.0.0.1", "elsewhere.localhost");
    const page = await printed(`see ${address}/icon.svg there`);
    await clickOn(page, address);
    await page.page.getByRole("dialog", { name: /^Open elsewhere\.localhost/ }).waitFor();
    await page.page.keyboard.press("Escape");
    const opened = page.page.context().waitForEvent("page");
    await clickOn(page, address, ["Control"]);
    expect((await opened).url()).toBe(`${address}/icon.svg`);
    await (await opened).close();
  });
});

describe("a web server that starts", () => {
  const browser = useBrowser();

  async function printed(line: string): Promise<TerminalPage> {
    const page = await browser.attached();
    browser.server.process("main").print(`${line}\r\nend\r\n`);
    await page.shows("end");
    return page;
  }

  const offers = (page: TerminalPage) => page.page.getByText(/^A web server started on port/);

  test("is offered once, in a preview, and neither from a replay nor for an address without a scheme", async () => {
    browser.server.user = "Ada";
    browser.server.hasPreviews = true;
    const page = await printed(
      "database at localhost:5432\r\n  Local:   \x1b[36mhttp://localhost:\x1b[1m5173\x1b[22m/app\x1b[39m",
    );
    const opened = page.page.context().waitForEvent("request", (request) => request.isNavigationRequest());
    await page.page.getByRole("button", { name: "Open 5173" }).click();
    expect((await opened).url()).toBe(`${browser.server.url}/preview/default/5173/app`);
    expect(await offers(page).count()).toBe(0);

    browser.server.process("main").print("GET http://localhost:5173/a 200\r\nhttp://127.0.0.1:3000\r\nlater\r\n");
    await page.page.getByText("A web server started on port 3000").waitFor();
    await page.page.getByRole("button", { name: "Dismiss" }).click();
    expect(await offers(page).count()).toBe(0);

    // A port can be opened after its offer was closed, too.
    const chips = page.page.locator(".sbx-bar").getByRole("button", { name: /^Open port/ });
    expect(await chips.allTextContents()).toEqual(["5173", "3000"]);
    const again = page.page.context().waitForEvent("request", (request) => request.isNavigationRequest());
    await chips.first().click();
    expect((await again).url()).toBe(`${browser.server.url}/preview/default/5173/app`);
    await page.page.keyboard.press("Control+Shift+P");
    await page.page.getByRole("option", { name: "Open port 3000" }).waitFor();
    await page.page.keyboard.press("Escape");
    browser.server.process("main").print("\x1b]133;A\x07$ \x1b]133;B\x07x\r\n\x1b]133;C\x07\x1b]133;D;0\x07");
    await chips.first().waitFor({ state: "detached" });

    await page.page.reload();
    await page.shows("later");
    await page.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    expect(await offers(page).count()).toBe(0);
    browser.server.process("main").print("http://localhost:8000\r\n");
    await page.page.getByText("A web server started on port 8000").waitFor();
  });

  test("is not offered where there are no previews, and no longer once the session has ended", async () => {
    const without = await printed("http://localhost:5173/");
    expect(await offers(without).count()).toBe(0);
    browser.server.user = "Ada";
    browser.server.hasPreviews = true;
    const page = await browser.attached();
    browser.server.process("main").print("http://localhost:5174/\r\n");
    await offers(page).waitFor();
    browser.server.process("main").exit({ code: 0 });
    await offers(page).waitFor({ state: "detached" });
  });
});

describe("the predicted echo", () => {
  const browser = useBrowser();
  const shown = (page: TerminalPage) => page.page.locator(".sbx-echo").textContent();

  test("is seen once two keys of a line have been echoed, gone once all are, and not there where nothing is echoed", async () => {
    const page = await browser.open();
    await page.page.addInitScript(() => {
      localStorage.setItem("sbx.preferences", '{"prediction":"always"}');
      // A prediction is given up after 250 ms, which this test may need for a look.
      const now = performance.now.bind(performance);
      performance.now = () => now() / 1_000;
    });
    await page.page.reload();
    await page.state("attached");
    const process = browser.server.process("main");
    process.print("$ ");
    await page.shows("$");
    await page.type("xa");
    await expect.poll(() => process.typed).toBe("xa");
    expect(await shown(page)).toBe("");
    process.print("xa");
    await page.shows("$ xa");
    await page.page.keyboard.type("b");
    await expect.poll(() => shown(page)).toBe("b");
    process.print("b");
    await page.shows("$ xab");
    await expect.poll(() => shown(page)).toBe("");
    process.print("\r\nPassword: ");
    await page.shows("Password:");
    await page.page.keyboard.type("secret");
    await expect.poll(() => process.typed).toBe("xabsecret");
    expect(await shown(page)).toBe("");
  });
});
