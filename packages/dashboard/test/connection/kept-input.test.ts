// What was typed and not acknowledged when a page goes, or is refused: sent exactly once, or said (R6b). In a real browser,
// against the real session core.

import { describe, expect, test } from "vitest";
import type { TerminalPage } from "../browser.ts";
import { type Fixture, type OnePage, useBrowser, useOnePage } from "../fixture.ts";
import type { PlayedProcess } from "../server.ts";

const browser: Fixture = useBrowser();

const OURS = "/?sandbox=dev&session=main&renderer=dom";
/** Somebody else's page, which keeps no place over a reload. */
const COMPONENT = "/component.html";

/** A page from which the process has got "ab", while "cd" was lost on its way. @param one Whose page that is. Default: a new one. */
async function withLostKeys(one?: OnePage): Promise<{ page: TerminalPage; process: PlayedProcess }> {
  const page = await (one?.blank("dev") ?? browser.attached(OURS));
  const { server } = one ?? browser;
  server.unheard = 0;
  const process = server.process("main", "dev");
  await page.type("ab");
  await expect.poll(() => process.typed).toBe("ab");
  server.isDeaf = true;
  await page.type("cd");
  await expect.poll(() => server.unheard).toBe(2);
  server.isDeaf = false;
  return { page, process };
}

describe("a reload", () => {
  test("R6b: sends what was typed before it and got lost, once it is connected, and what is typed meanwhile is counted", async () => {
    const page = await browser.attached();
    const { server } = browser;
    const process = server.process("main");
    await page.type("ab");
    await expect.poll(() => process.typed).toBe("ab");
    server.isDeaf = true;
    await page.type("cd");
    await expect.poll(() => server.unheard).toBe(2);
    server.isReachable = false;
    for (let round = 0; round < 2; round += 1) {
      await page.page.reload();
      await page.state("waiting");
    }
    await page.type("xyz");
    await page.waitForData("unsent-keys", 3);
    server.isDeaf = false;
    server.isReachable = true;
    await expect.poll(() => process.typed).toBe("abcd");
    expect([server.attaches.at(-1)?.get("stdin"), await page.data("unsent-keys")]).toEqual(["2", "3"]);
    await page.page.keyboard.press("Enter");
    await page.type("e");
    await expect.poll(() => process.typed).toMatch(/^abcd\r?e$/);
  });

  test("R6b: doubles nothing of what was typed before it and was taken without the page's knowing", async () => {
    const page = await browser.attached();
    const { server } = browser;
    const process = server.process("main");
    server.losesAcks = true;
    await page.type("ab");
    await expect.poll(() => process.typed).toBe("ab");
    await page.page.reload();
    await page.state("attached");
    await page.type("c");
    await expect.poll(() => process.typed).toBe("abc");
    expect(server.attaches[1]?.get("stdin")).toBe("0");
  });

  test("R6b: says how much was typed before it and never sent, where the session is gone", async () => {
    const page = await browser.attached();
    const { server } = browser;
    server.isDeaf = true;
    await page.type("abc");
    await expect.poll(() => server.unheard).toBe(3);
    server.isDeaf = false;
    server.processes.clear();
    await page.page.reload();
    await page.state("attached");
    await page.waitForData("unsent-keys", 3);
    expect(server.process("main").typed).toBe("");
  });

  test("R6b: keeps nothing of secret input but its length, and says how much of it was not sent", async () => {
    const page = await browser.attached();
    const { server } = browser;
    await page.button("Secret input");
    await page.page.locator(".xterm-helper-textarea:focus").waitFor({ state: "attached" });
    server.isDeaf = true;
    await page.type("hunter2");
    await expect.poll(() => server.unheard).toBe(7);
    const body = '<link rel="icon" href="data:,">';
    await page.page.route("**/elsewhere", (route) => route.fulfill({ contentType: "text/html", body }));
    await page.page.goto(`${server.url}/elsewhere`);
    const kept = await page.page.evaluate(() => sessionStorage.getItem("sbx.input.u-1.default.main"));
    expect(JSON.parse(kept ?? "")).toEqual({ resume: "client-1", offset: 0, length: 7 });
    server.isDeaf = false;
    await page.page.goBack();
    await page.state("attached");
    await page.waitForData("unsent-keys", 7);
    expect(server.process("main").typed).toBe("");
  });

  test("R6b: after a refusal sends what was typed before that", async () => {
    const { page, process } = await withLostKeys();
    for (const connection of process.connections) connection.bye(4401, "login over", "never");
    await page.state("refused");
    await page.page.reload();
    await page.state("attached");
    await expect.poll(() => process.typed).toBe("abcd");
    expect(await page.data("unsent-keys")).toBe("0");
  });

  test.each([
    ["sends the rest of a paste that fits into the browser's memory", 400 * 1024, 0],
    ["counts the rest of a paste that does not", 600 * 1024, 600 * 1024],
  ])("R6b: %s", async (_name, length, unsent) => {
    const page = await browser.attached(`${OURS}&debug=1`);
    const { server } = browser;
    const process = server.process("main", "dev");
    server.isDeaf = true;
    await page.page.evaluate(
      (count) => Reflect.get(window, "sbx").terminal.input("0123456789abcdef".repeat(count / 16)),
      length,
    );
    await expect.poll(() => server.unheard).toBe(256 * 1024);
    server.isDeaf = false;
    await page.page.reload();
    await page.state("attached");
    await page.waitForData("unsent-keys", unsent);
    await expect.poll(() => process.typedBytes.length).toBe(length - unsent);
    expect(process.typed).toBe("0123456789abcdef".repeat((length - unsent) / 16));
    await page.type("x");
    await expect.poll(() => process.typedBytes.length).toBe(length - unsent + 1);
  });
});

describe.each([
  ["our page", OURS],
  ["somebody else's page, which remembers no place", COMPONENT],
])("%s", (_name, path) => {
  const one = useOnePage(path);

  test("R6b: that was put aside, and is shown again as it was, sends what was typed before that", async () => {
    const { page, process } = await withLostKeys(one);
    for (const type of ["pagehide", "pageshow"]) {
      await page.page.evaluate((name) => dispatchEvent(new PageTransitionEvent(name, { persisted: true })), type);
    }
    await expect.poll(() => process.typed).toBe("abcd");
    await page.type("e");
    await expect.poll(() => process.typed).toBe("abcde");
  });

  test("R6b: that is refused, and tries again, sends what was typed before that, and counts what was typed meanwhile", async () => {
    const { page, process } = await withLostKeys(one);
    for (const connection of process.connections) connection.bye(4409, "replaced by a newer connection", "never");
    await page.state("refused");
    await page.type("xy");
    await page.waitForData("unsent-keys", 2);
    await page.page.keyboard.press("Enter");
    await page.waitForData("unsent-keys", 3);
    await page.button("Retry now");
    await expect.poll(() => process.typed).toBe("abcd");
    await page.type("e");
    await expect.poll(() => process.typed).toBe("abcde");
  });

  test("R6b: that finds its target gone when it comes back counts what was typed before that", async () => {
    const page = await browser.attached(path);
    const { server } = browser;
    server.isDeaf = true;
    await page.type("ab");
    await expect.poll(() => server.unheard).toBe(2);
    server.processes.clear();
    server.cut();
    await page.state("refused");
    await page.waitForData("unsent-keys", 2);
  });
});
