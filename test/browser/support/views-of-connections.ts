// Walks through what becomes of connections and logins, of a page that has neither, and of who has the keyboard.
import type { BrowserContextOptions } from "playwright-core";
import { api, fresh, holdInnerHop, person, releaseInnerHop } from "../../e2e/support/system/system.ts";
import type { Fixture } from "./fixture.ts";
import type { Link } from "./link.ts";
import type { Tab } from "./tab.ts";
import { type Connections, changeMe, member, press, type See, sandboxOf, shell, type Walk } from "./view.ts";

/** On a page with a shell, which is connected again then. */
export async function lost(see: See, tab: Tab, link: Link): Promise<void> {
  link.cut();
  await tab.says(/^Connection lost: retrying in/);
  await tab.type("lost");
  await tab.page.getByText("4 keys typed while disconnected: not sent").waitFor();
  await see("a connection that is lost", tab);
  await tab.page.context().setOffline(true);
  await tab.says(/^Offline/);
  await see("a device without a network", tab);
  link.mend();
  await tab.page.context().setOffline(false);
  await tab.state("attached");
}

/** @param connections Of the page, which the test answers here. */
export async function ending(see: See, tab: Tab, connections: Connections): Promise<void> {
  const say = (message: object) => connections.at(-1)?.send(JSON.stringify(message));
  say({ type: "stopping", seconds: 30 });
  await tab.page.getByText(/stops|stopping/i).waitFor();
  await see("a sandbox that stops", tab);
  // It can't be renewed.
  await changeMe(tab.page.context(), () => ({
    expiresAt: new Date(Date.now() + 50_000).toISOString(),
    renewable: false,
  }));
  say({ type: "expiring", seconds: 50 });
  await tab.page.getByRole("region", { name: /^Your login/ }).waitFor();
  await see("a login that ends soon", tab);
  await connections.at(-1)?.close({ code: 4401, reason: "token expired" });
  await tab.page.getByRole("alert").waitFor();
  await see("a login that has ended", tab);
}

export const connectionWalks = (browser: Fixture): Readonly<Record<string, Walk>> => ({
  "a first visit, and the page without a network": async (see) => {
    const visit = async (options?: BrowserContextOptions) => {
      const tab = await browser.open(await browser.profile(options), `/?sandbox=${fresh("axe")}`);
      await tab.page.getByRole("link", { name: "Log in" }).waitFor();
      return tab;
    };
    await see("a first visit", await visit());
    const popup = await browser.open(await browser.profile(), "/?logged-in");
    await popup.page.getByText(/^Logged in/).waitFor();
    await see("the window of a login", popup);
    const tab = await visit({ serviceWorkers: "allow" });
    await tab.page.evaluate(() => navigator.serviceWorker.ready);
    await tab.page.reload();
    await tab.page.getByRole("link", { name: "Log in" }).waitFor();
    browser.link.cut();
    await tab.page.reload();
    await tab.page.getByRole("heading", { name: "Cannot reach the server" }).waitFor();
    // Not before: a page that loads on a busy machine may take the browser to be online again.
    await tab.page.context().setOffline(true);
    await tab.page.getByRole("heading", { name: "Offline" }).waitFor();
    await see("the page without a network", tab);
    // What could not be reached is what this is about.
    tab.problems.length = 0;
  },
  "a session that does not begin": async (see) => {
    const profile = await member(browser);
    const address = (query: string) => `/?sandbox=${fresh("axe")}&renderer=dom&session=${query}`;
    await holdInnerHop();
    const tab = await browser.open(profile, address("main"));
    const goTo = (query: string) => tab.page.goto(new URL(address(query), tab.page.url()).href);
    await tab.says(/^Connecting/);
    await see("a connection that is being made", tab);
    await releaseInnerHop();
    await goTo("nobody&role=viewer");
    await tab.page.getByRole("alert").waitFor();
    await see("a refusal", tab);
    await goTo("main&cmd=no-such-program");
    await tab.page.getByRole("heading", { name: "Run this?" }).waitFor();
    await see("a link that asks to run something", tab);
    await tab.button("Run");
    await tab.page.getByRole("heading", { name: "Cannot start the command" }).waitFor();
    await tab.page.getByText("Command not found: no-such-program.").waitFor();
    await see("a command that can't be started", tab);
    await profile.route("**/api/me", (route) => route.fulfill({ status: 503, json: { message: "It restarts" } }));
    await goTo("main");
    await tab.page.getByRole("heading", { name: "Cannot reach the server" }).waitFor();
    await see("a server that does not answer", tab);
    // The browser's own words about it.
    tab.problems.length = 0;
  },
  "a keyboard that somebody else has": async (see) => {
    const ann = await shell(browser, "&mode=exclusive&name=Ann");
    const viewer = await browser.open(ann.page.context(), `${ann.page.url()}&role=viewer`);
    await viewer.state("attached");
    await see("a viewer", viewer);
    await viewer.page.close();
    await ann.waitForData("people", 1);
    const bob = await browser.open(ann.page.context(), ann.page.url().replace("name=Ann", "name=Bartholomew"));
    await bob.state("attached");
    await ann.button("Release");
    await bob.page.getByRole("button", { name: "Take it" }).waitFor();
    await see("a keyboard that is free", bob);
    const agent = await person({ sub: fresh("agent"), org: "local", name: "Agent" });
    const order = (route: string, body: object) =>
      api(agent, `/api/sandboxes/${sandboxOf(ann)}/sessions/main/${route}`, {
        method: "POST",
        body: JSON.stringify(body),
      });
    await order("keyboard", { do: "request" });
    await order("input", { text: "npm test" });
    await ann.find(/^\$ npm test$/);
    await ann.page.getByText("typed npm test").first().waitFor({ state: "attached" });
    await see("a keyboard that a program has", ann);
    await press(ann, "F2");
    await ann.page.getByRole("button", { name: "Release" }).waitFor();
    // What the program had typed goes, else it would be the beginning of the next command.
    await press(ann, "Control+U");
    await ann.prompt();
    await bob.page.getByRole("button", { name: "Ask" }).click();
    await bob.page.getByRole("button", { name: "Ask again" }).waitFor();
    await see("a keyboard that another has", bob);
    await ann.page.getByRole("button", { name: "Give it" }).waitFor();
    await ann.run("printf '\\e]52;c;eA==\\a'");
    await ann.page.getByRole("region", { name: "Clipboard" }).waitFor();
    await see("a keyboard that is asked for, and a program that would write to the clipboard", ann);
    await ann.page.setViewportSize({ width: 500, height: 320 });
    await bob.page.locator('.sbx-size[data-framed="true"]').waitFor();
    await see("a window that is larger than another's", bob);
  },
});
