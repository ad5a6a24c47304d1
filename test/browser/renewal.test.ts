// A login that has run out, over the real issuer: the page renews it, and its person notices nothing.
import { expect, test } from "vitest";
import { system } from "../e2e/support/system/system.ts";
import { setUpBrowser } from "./support/fixture.ts";

const browser = setUpBrowser();

test("a browser whose session's cookie has run out is logged in again at the next load, in the same shell", async () => {
  const profile = await browser.freshMember();
  const tab = await browser.open(profile, "/?session=renewed&debug=1&renderer=dom&sandbox=renewal");
  await tab.shell();
  await tab.run("echo pid $$");
  const pid = (await tab.find(/^pid (\d+)$/))[1];
  const names = async () => (await profile.cookies(system.origin)).map(({ name }) => name.replace(/_\d+$/, "")).sort();
  expect(await names()).toEqual(["sbx_renewal", "sbx_session"]);
  await profile.clearCookies({ name: /sbx_session/ });
  await tab.page.reload();
  await tab.state("attached");
  await tab.prompt();
  await tab.run("echo still $$");
  await tab.shows(`still ${pid}`);
  expect(await names()).toEqual(["sbx_renewal", "sbx_session"]);
});
