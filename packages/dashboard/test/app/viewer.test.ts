// A person without the scope to drive.

import { expect, test } from "vitest";
import { MAIN, useBrowser } from "../fixture.ts";

const browser = useBrowser();

test("a person who may only view attaches as a viewer, and is offered nothing that starts a session", async () => {
  browser.server.scopes = ["sandbox:connect"];
  const page = await browser.attached();
  expect(browser.server.attaches.map((query) => query.get("role"))).toEqual(["viewer"]);
  const names = await page.page
    .getByRole("button")
    .evaluateAll((all) => all.map((one) => one.getAttribute("title") ?? ""));
  expect(names.filter((name) => /new session|split|share/i.test(name))).toEqual([]);
});

test("an address without a session shows a viewer the newest running one", async () => {
  browser.server.scopes = ["sandbox:connect"];
  const session = { session: "main", state: "running", tty: true, cmd: "bash", args: [], clients: 1 };
  browser.server.listed = [
    { ...session, session: "older", createdAt: "2026-01-01T00:00:00.000Z", state: "exited" },
    { ...session, createdAt: "2026-01-01T00:00:00.000Z" },
  ];
  await browser.attached("/");
  expect(browser.server.attaches.map((query) => query.get("session"))).toEqual(["main"]);
});

test("a driver's tab that becomes a viewer's does not show the driver's proof", async () => {
  const page = await browser.attached();
  await page.page.goto(`${browser.server.url}${MAIN}&role=viewer`);
  await page.state("attached");
  const [driver, viewer] = browser.server.attaches;
  expect([driver?.get("role"), viewer?.get("role"), viewer?.get("resume")]).toEqual([null, "viewer", null]);
});
