// Tabs and panes of a page, as a person sees them. What is typed goes to the pane that has the focus, and so does what a Tab reads.
import type { BrowserContext, Locator } from "playwright-core";
import { expect } from "vitest";
import { fresh, system } from "../../e2e/support/system/system.ts";
import type { Fixture } from "./fixture.ts";
import { enter, type Tab } from "./tab.ts";

export const pane = (tab: Tab, session: string): Locator => tab.page.locator(`.sbx-pane[data-pane$="/${session}"]`);

/** The sessions that are seen, from left to right, then from top to bottom. */
export async function seen(tab: Tab): Promise<string[]> {
  return tab.page.locator('.sbx-pane[data-seen="true"]').evaluateAll((panes) =>
    panes
      .map((one) => ({ name: one.getAttribute("data-pane")?.split("/")[1] ?? "", box: one.getBoundingClientRect() }))
      .sort((a, b) => a.box.x - b.box.x || a.box.y - b.box.y)
      .map(({ name }) => name),
  );
}

/** Waits until so many panes are seen and the one with the focus is attached. @returns Its session. */
export async function focused(tab: Tab, count: number): Promise<string> {
  await expect.poll(async () => (await seen(tab)).length).toBe(count);
  const focus = tab.page.locator('.sbx-pane[data-focus="true"]');
  await focus.locator('.sbx-terminal[data-state="attached"]').waitFor();
  return (await focus.getAttribute("data-pane"))?.split("/")[1] ?? "";
}

/** Opens a shell in a tab of its own, by keys. @returns Its session. */
export async function newTab(tab: Tab): Promise<string> {
  const before = await tab.page.locator('.sbx-pane[data-focus="true"]').getAttribute("data-pane");
  await tab.page.keyboard.press("Control+Shift+P");
  await tab.page.getByRole("dialog").waitFor();
  await tab.page.keyboard.type(">new session in a tab\n");
  await tab.page.locator(`.sbx-pane[data-focus="true"]:not([data-pane="${before}"])`).waitFor();
  const session = await focused(tab, 1);
  await hasFocus(tab, session);
  return session;
}

/** The sessions of each tab. */
export const tabSessions = (tab: Tab): Promise<string[]> =>
  tab.page
    .getByRole("tab")
    .evaluateAll((tabs) =>
      tabs.map((one) => [...(one.getAttribute("title") ?? "").matchAll(/\/ ([^,]+)/g)].map(([, id]) => id).join(", ")),
    );

/** Waits until a session has the focus, also that of the keyboard. */
export async function hasFocus(tab: Tab, session: string): Promise<void> {
  await pane(tab, session).and(tab.page.locator('[data-focus="true"]')).waitFor();
  await expect.poll(() => pane(tab, session).locator(".xterm-helper-textarea:focus").count()).toBe(1);
}

/** Types a command where the focus is, and waits for the row that it prints. */
export async function typed(tab: Tab, command: string, row: string): Promise<void> {
  await enter(tab.page, command);
  await tab.shows(row);
}

type Kept = {
  readonly revision: number;
  readonly layout: { readonly tabs?: readonly { readonly root: unknown }[] } | null;
};

/** Drags as a hand does: what takes it is there once it is on its way. */
export async function drag(tab: Tab, what: Locator, onto: Locator, at: { x: number; y: number }): Promise<void> {
  const { mouse } = tab.page;
  await what.hover();
  await mouse.down();
  const start = await what.boundingBox();
  if (start === null) throw new Error("Cannot find what is to be dragged");
  await mouse.move(start.x + start.width / 2 + 10, start.y + start.height / 2 + 2, { steps: 3 });
  await tab.page.locator(".sbx-drop-ground").first().waitFor();
  const ground = await onto.boundingBox();
  if (ground === null) throw new Error("Cannot find what it is dragged onto");
  await mouse.move(ground.x + at.x, ground.y + at.y, { steps: 3 });
  await mouse.up();
}

/** What the server keeps for whoever is logged in. */
export async function keptOf(profile: BrowserContext): Promise<Kept> {
  return (await (await profile.request.get(`${system.origin}/api/layout`)).json()) as Kept;
}

/** A page on one session of a sandbox of its own, of somebody who has nothing else open. */
export async function alone(browser: Fixture): Promise<{ tab: Tab; profile: BrowserContext; sandbox: string }> {
  const profile = await browser.member();
  await forgetTabs(profile);
  const sandbox = fresh("tabs");
  const tab = await browser.open(profile, `/?sandbox=${sandbox}&session=one&debug=1&renderer=dom`);
  await tab.shell();
  return { tab, profile, sandbox };
}

/** Other tests are about the same person: none finds what this one had open. */
export async function forgetTabs(profile: BrowserContext): Promise<void> {
  const headers = { Origin: system.origin };
  const answer = await profile.request.put(`${system.origin}/api/layout`, { headers, data: { layout: {} } });
  expect(answer.status()).toBe(200);
}
