// What the walks through the page's views have in common: a shell to begin with, a dialog to wait for, connections that are played with.
import type { BrowserContext, BrowserContextOptions, WebSocketRoute } from "playwright-core";
import { fresh } from "../../e2e/support/system/system.ts";
import type { Fixture } from "./fixture.ts";
import type { Tab } from "./tab.ts";

/** Looks at a view of the page: closes a dialog and ends what is over the terminal, and leaves everything else as it is. */
export type See = (view: string, tab: Tab) => Promise<void>;
/** Goes from view to view, mostly on one page, and has each seen. */
export type Walk = (see: See) => Promise<void>;

/** Somebody who is logged in; what they choose on a page no server keeps, and the next page begins without it. */
export async function member(browser: Fixture, options?: BrowserContextOptions): Promise<BrowserContext> {
  const profile = await browser.member(options);
  await profile.route("**/api/preferences", (route) => route.fulfill({ json: { revision: 0, preferences: null } }));
  return profile;
}

/** @param before Is called before there is anything on the page. */
export async function shell(
  browser: Fixture,
  query = "",
  before?: (profile: BrowserContext) => Promise<unknown>,
): Promise<Tab> {
  const profile = await member(browser);
  await before?.(profile);
  const tab = await browser.open(profile, `/?sandbox=${fresh("axe")}&session=main&debug=1&renderer=dom${query}`);
  await tab.shell();
  return tab;
}

export const sandboxOf = (tab: Tab): string => new URL(tab.page.url()).searchParams.get("sandbox") ?? "";

export const dialog = (tab: Tab) => tab.page.getByRole("dialog").waitFor();

/** Gives the terminal the keyboard, and presses these. */
export async function press(tab: Tab, ...keys: string[]): Promise<void> {
  await tab.type("");
  for (const key of keys) await tab.page.keyboard.press(key);
}

/** Answers the page's question about who is logged in otherwise than the server does. */
export const changeMe = (profile: BrowserContext, change: () => object) =>
  profile.route("**/api/me", async (route) => {
    const me = (await (await route.fetch()).json()) as object;
    await route.fulfill({ json: { ...me, ...change() } });
  });

/** In order: a test may say something to the page in the server's place. */
export type Connections = readonly WebSocketRoute[];

/** Leads the page's connections through here. */
export async function playConnections(profile: BrowserContext): Promise<Connections> {
  const connections: WebSocketRoute[] = [];
  await profile.routeWebSocket(/\/attach\?/, (route) => {
    route.connectToServer();
    connections.push(route);
  });
  return connections;
}

/** Leads transfers through here. @returns While `areHeld`, each that begins stops under way. */
export async function playTransfers(profile: BrowserContext): Promise<{ areHeld: boolean }> {
  const transfers = { areHeld: false };
  await profile.routeWebSocket(/\/attach\?.*tty=0/, (route) => {
    const server = route.connectToServer();
    const isHeld = transfers.areHeld;
    const pass = (from: WebSocketRoute, to: WebSocketRoute, most: number) => {
      let count = 0;
      from.onMessage((message) => {
        count += 1;
        if (!isHeld || count <= most) to.send(message);
      });
    };
    pass(server, route, 12);
    pass(route, server, 36);
  });
  return transfers;
}
