// From the bare address to a shell, as a person goes the first time, and out again.
import { expect, test } from "vitest";
import { system } from "../e2e/support/system/system.ts";
import { logIn, setUpBrowser } from "./support/fixture.ts";
import type { Tab } from "./support/tab.ts";

const browser = setUpBrowser();

/** A row as a screen reader is told of it: the bare address gives no look behind the page, and WebGL none into it. */
const readOut = (tab: Tab, row: RegExp) =>
  tab.page.locator(".xterm-accessibility-tree > div").filter({ hasText: row }).first();

test("the bare address asks for a login and leads to a shell, which nobody else finds; a log out is one of all tabs", async () => {
  const profile = await browser.profile();
  const tab = await browser.open(profile, "/");
  const link = tab.page.getByRole("link", { name: "Log in" });
  await link.waitFor();
  expect(await tab.page.title()).toBe("sbx-stdio");

  await link.click();
  await tab.page.getByText("alice").first().waitFor();
  expect(new URL(tab.page.url()).origin).toBe(system.issuerUrl);
  await tab.page.goBack();
  await logIn(tab, "alice");

  await tab.state("attached");
  await tab.button("Screen reader");
  await readOut(tab, /[$#]\s*$/).waitFor();
  const address = new URL(tab.page.url());
  expect([address.origin, [...address.searchParams.keys()]]).toEqual([system.origin, ["session"]]);
  expect(await tab.page.locator(".sbx-user").textContent()).toBe("Alice");
  expect(await tab.words()).toBe("Connected");
  await tab.run("echo $((6*7)) answers");
  await readOut(tab, /^42 answers\s*$/).waitFor();

  // Nobody's session is another person's: bob finds a shell of his own under alice's address.
  await tab.run("echo pid $$");
  const row = readOut(tab, /^pid \d+\s*$/);
  await row.waitFor();
  const pid = /\d+/.exec((await row.textContent()) ?? "")?.[0];
  const bob = await browser.open(await browser.profile(), `${tab.page.url()}&debug=1&renderer=dom`);
  await bob.page.getByRole("link", { name: "Log in" }).click();
  await bob.page.getByLabel("User name").fill("bob");
  await bob.page.getByLabel("Organisation").fill("elsewhere");
  await bob.page.getByRole("button", { name: "Log in" }).click();
  await bob.shell();
  await bob.run("echo pid $$");
  expect((await bob.find(/^pid (\d+)$/))[1]).not.toBe(pid);
  expect(await bob.page.locator(".sbx-user").textContent()).toBe("Bob");
  await bob.page.close();

  // Another tab is logged in, and logging out in one logs out the other at its next load.
  const other = await browser.open(profile, "/");
  await other.state("attached");
  // The bare address opens the session that this person had last.
  const sessionOf = ({ page }: Tab) => new URL(page.url()).searchParams.get("session");
  expect(sessionOf(other)).toBe(sessionOf(tab));
  await tab.logOut();
  await tab.page.getByRole("link", { name: "Log in" }).waitFor();
  expect(await tab.page.context().cookies(system.origin)).toEqual([]);
  await other.page.reload();
  await other.page.getByRole("link", { name: "Log in" }).waitFor();
});
