// Views of a connection and of a login that end, of no network at all, and of who has the keyboard.
import { api, fresh, person } from "../../e2e/support/system/system.ts";
import type { Fixture } from "./fixture.ts";
import type { Tab } from "./tab.ts";
import { type Look, playConnections, shellOf, type Views } from "./view.ts";

/** A terminal, and a way to say something to it in the server's place; its login can't be renewed. */
const played =
  (browser: Fixture) =>
  async (look: Look): Promise<{ tab: Tab; say: (message: object) => void; close: (code: number) => Promise<void> }> => {
    let connections: Awaited<ReturnType<typeof playConnections>> = [];
    const tab = await shellOf(browser)(look, "", async (profile) => {
      connections = await playConnections(profile);
    });
    await tab.page.context().route("**/api/me", async (route) => {
      const me = (await (await route.fetch()).json()) as object;
      await route.fulfill({
        json: { ...me, expiresAt: new Date(Date.now() + 50_000).toISOString(), renewable: false },
      });
    });
    return {
      tab,
      say: (message) => connections.at(-1)?.send(JSON.stringify(message)),
      close: async (code) => connections.at(-1)?.close({ code, reason: "token expired" }),
    };
  };

export const connectionViews = (browser: Fixture): Views => {
  const shell = shellOf(browser);
  const play = played(browser);
  const exclusive = async (look: Look): Promise<{ ann: Tab; bob: Tab }> => {
    const ann = await shell(look, "&mode=exclusive&name=Ann");
    const bob = await browser.open(ann.page.context(), ann.page.url().replace("name=Ann", "name=Bartholomew"));
    await bob.state("attached");
    return { ann, bob };
  };
  return {
    "a login that ends soon": async (look) => {
      const { tab, say } = await play(look);
      say({ type: "expiring", seconds: 50 });
      await tab.page.getByRole("region", { name: /^The login/ }).waitFor();
      return tab;
    },
    "a login that has ended": async (look) => {
      const { tab, close } = await play(look);
      await close(4401);
      await tab.page.getByRole("alert").waitFor();
      return tab;
    },
    "a sandbox that stops": async (look) => {
      const { tab, say } = await play(look);
      say({ type: "stopping", seconds: 30 });
      await tab.page.getByText(/stops|stopping/i).waitFor();
      return tab;
    },
    "a device without a network": async (look) => {
      const tab = await shell(look);
      browser.link.cut();
      await tab.page.context().setOffline(true);
      await tab.says(/^Offline/);
      return tab;
    },
    "the page without a network": async (look) => {
      const tab = await browser.open(await browser.profile(look), `/?sandbox=${fresh("axe")}`);
      await tab.page.getByRole("link", { name: "Log in" }).waitFor();
      await tab.page.evaluate(() => navigator.serviceWorker.ready);
      await tab.page.reload();
      await tab.page.getByRole("link", { name: "Log in" }).waitFor();
      browser.link.cut();
      await tab.page.context().setOffline(true);
      await tab.page.reload();
      await tab.page.getByRole("heading", { name: "Offline" }).waitFor();
      // What could not be reached is what this is about.
      tab.problems.length = 0;
      return tab;
    },
    "a keyboard that another has": async (look) => {
      const { ann, bob } = await exclusive(look);
      await ann.run("clear");
      await bob.page.getByRole("button", { name: "Ask" }).click();
      await bob.page.getByRole("button", { name: "Ask again" }).waitFor();
      return bob;
    },
    "a keyboard that is free": async (look) => {
      const { ann, bob } = await exclusive(look);
      await ann.button("Release");
      await bob.page.getByRole("button", { name: "Take it" }).waitFor();
      return bob;
    },
    "a keyboard that a program has": async (look) => {
      const tab = await shell(look, "&mode=exclusive&name=Ann");
      await tab.button("Release");
      const agent = await person({ sub: fresh("agent"), org: "local", name: "Agent" });
      const sandbox = new URL(tab.page.url()).searchParams.get("sandbox") ?? "";
      const ask = (route: string, body: object) =>
        api(agent, `/api/sandboxes/${sandbox}/sessions/main/${route}`, { method: "POST", body: JSON.stringify(body) });
      await ask("keyboard", { do: "request" });
      await ask("input", { text: "npm test" });
      await tab.find(/^\$ npm test$/);
      await tab.page.getByText("typed npm test").first().waitFor({ state: "attached" });
      return tab;
    },
    "a window that is larger than another's": async (look) => {
      const tab = await shell(look, "&name=Ann");
      const other = await browser.open(tab.page.context(), tab.page.url().replace("name=Ann", "name=Bob"));
      await other.page.setViewportSize({ width: 500, height: 320 });
      await other.state("attached");
      await tab.page.locator('.sbx-size[data-framed="true"]').waitFor();
      return tab;
    },
  };
};
