// A login that runs out while there is work on the page.

import { CLOSE } from "sandbox-stdio/core";
import { expect, test } from "vitest";
import type { TerminalPage } from "../browser.ts";
import { MAIN, useBrowser } from "../fixture.ts";

const browser = useBrowser();
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();

/** The server says that the connection's token ends. */
function expire(): void {
  for (const connection of browser.server.process("main").connections)
    connection.send({ type: "expiring", seconds: 60 });
}

/** The token has ended, as the server tells every connection that rests on it. */
function end(): void {
  browser.server.loginEndsAt = inMs(0);
  for (const connection of browser.server.process("main").connections)
    connection.bye(CLOSE.unauthenticated, "token expired", "never");
}

const toast = (page: TerminalPage) => page.page.getByRole("region", { name: "Your login expires in" });
const veils = (page: TerminalPage) => page.page.locator(".sbx-veil").count();

test("renews itself while the page is used, without a word or a break", async () => {
  browser.server.loginEndsAt = inMs(60_000);
  browser.server.renewsTo = inMs(3_600_000);
  const page = await browser.attached();
  let words = 0;
  await page.page.exposeFunction("said", () => {
    words += 1;
  });
  await page.page.evaluate(() => {
    const observer = new MutationObserver(
      () => document.querySelector(".sbx-expiring") && Reflect.get(window, "said")(),
    );
    observer.observe(document.body, { subtree: true, childList: true });
  });
  expire();
  await expect.poll(() => browser.server.tokens).toEqual(["a.fresh"]);
  expect([browser.server.renewals, words, await page.data("resumes")]).toEqual([1, 0, "0"]);
  expect(browser.server.attaches.length).toBe(1);
});

test("whose tokens never live longer than a minute is renewed all the same", async () => {
  browser.server.loginEndsAt = inMs(20_000);
  browser.server.renewsTo = inMs(60_000);
  const page = await browser.attached();
  expire();
  await expect.poll(() => browser.server.tokens).toEqual(["a.fresh"]);
  expect([browser.server.renewals, await toast(page).count()]).toEqual([1, 0]);
});

test("a renewal to which no answer came is made again at the next try, and not a minute later", async () => {
  browser.server.loginEndsAt = inMs(60_000);
  browser.server.renewsTo = inMs(3_600_000);
  const page = await browser.attached();
  await page.page.route("**/api/me/renew", (route) => route.abort("connectionreset"), { times: 1 });
  const asked: string[] = [];
  page.page.on("request", (request) => void asked.push(new URL(request.url()).pathname));
  expire();
  await expect.poll(() => browser.server.tokens).toEqual(["a.fresh"]);
  const [first, second] = [asked.indexOf("/api/me/renew"), asked.lastIndexOf("/api/me/renew")];
  // One for the failed renewal, and two for the next try.
  expect(asked.slice(first + 1, second).filter((path) => path === "/api/me").length).toBe(3);
  expect(page.problems.splice(0)).toEqual(["Failed to load resource: net::ERR_CONNECTION_RESET"]);
});

test("that can't be renewed is counted down; a login in a window of its own goes for the session, which goes on", async () => {
  browser.server.loginEndsAt = inMs(60_000);
  const page = await browser.attached();
  await page.type("before ");
  expire();
  await toast(page).waitFor();
  const seconds = async () => Number.parseInt((await toast(page).locator(".sbx-seconds").textContent()) ?? "", 10);
  const first = await seconds();
  await expect.poll(seconds).toBeLessThan(first);
  expect(browser.server.tokens).toEqual([]);
  const opened = page.page.context().waitForEvent("page");
  await toast(page).getByRole("button", { name: "Log in" }).click();
  const popup = await opened;
  if (!popup.isClosed()) await popup.waitForEvent("close");
  await toast(page).waitFor({ state: "detached" });
  await expect.poll(() => browser.server.tokens).toEqual(["a.fresh"]);
  await page.page.keyboard.type("after");
  await expect.poll(() => browser.server.process("main").typed).toBe("before after");
  expect(browser.server.attaches.length).toBe(1);
});

test("one that has ended covers no work: what is on the screen stays there, and comes back with the next login", async () => {
  const page = await browser.attached();
  browser.server.process("main").print("unsaved work\r\n");
  await page.shows("unsaved work");
  end();
  await page.state("refused");
  await page.shows("unsaved work");
  expect(await veils(page)).toBe(0);
  const alert = page.page.getByRole("alert");
  expect(await alert.getByRole("heading").textContent()).toBe("Not logged in");
  const opened = page.page.context().waitForEvent("page");
  await alert.getByRole("button", { name: "Log in" }).click();
  await opened;
  await page.state("attached");
  browser.server.process("main").print("goes on\r\n");
  await page.shows("goes on");
});

test("one that ended while nobody looked is renewed when somebody does, and at the next load", async () => {
  const page = await browser.attached();
  end();
  await page.state("refused");
  browser.server.renewsTo = inMs(3_600_000);
  // The page has asked in vain, and the server says that it never will: a person's login is another.
  browser.server.user = undefined;
  const later = await browser.open();
  await later.state("attached");
  expect(await later.page.getByRole("link", { name: "Log in" }).count()).toBe(0);
  await page.state("attached");
});

test("of a guest is not renewed by a login of their own", async () => {
  const page = await browser.attached(`${MAIN}&role=viewer#ticket=s.one`);
  const asked: string[] = [];
  page.page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    // Dialogs are loaded once the browser is idle, which may be now.
    if (!pathname.startsWith("/assets/")) asked.push(pathname);
  });
  expire();
  await toast(page).waitFor();
  expect([asked, await toast(page).getByRole("button").count()]).toEqual([[], 0]);
});
