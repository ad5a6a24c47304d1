// What the views have in common: a shell to begin with, a dialog to wait for, a click on what is printed, a connection that is played with.
import type { BrowserContext, WebSocketRoute } from "playwright-core";
import { fresh } from "../../e2e/support/system/system.ts";
import type { Fixture } from "./fixture.ts";
import type { Tab } from "./tab.ts";

export type Look = { readonly colorScheme?: "dark" | "light"; readonly viewport?: { width: number; height: number } };
/** Opens a view, as it is looked at. */
export type Show = (look: Look) => Promise<Tab>;
export type Views = Readonly<Record<string, Show>>;
/** @param before Is called before there is anything on the page. */
export type Shell = (
  look: Look,
  query?: string,
  before?: (profile: BrowserContext) => Promise<unknown>,
) => Promise<Tab>;

export const shellOf =
  (browser: Fixture): Shell =>
  async (look, query = "", before) => {
    const profile = await withoutChoices(await browser.member(look));
    await before?.(profile);
    const tab = await browser.open(profile, `/?sandbox=${fresh("axe")}&session=main&debug=1&renderer=dom${query}`);
    await tab.shell();
    return tab;
  };

/** What is chosen in one view is kept by no server: the next begins without it. */
export async function withoutChoices(profile: BrowserContext): Promise<BrowserContext> {
  await profile.route("**/api/preferences", (route) => route.fulfill({ json: { revision: 0, preferences: null } }));
  return profile;
}

export const dialog = (tab: Tab) => tab.page.getByRole("dialog").waitFor();

/** Leads the page's connections through here. @returns They, in order: a test may say something to the page in the server's place. */
export async function playConnections(profile: BrowserContext): Promise<readonly WebSocketRoute[]> {
  const connections: WebSocketRoute[] = [];
  await profile.routeWebSocket(/\/attach\?/, (route) => {
    route.connectToServer();
    connections.push(route);
  });
  return connections;
}

/** Lets a transfer's connection carry so many messages of this side, and no more. */
export async function stopTransfers(profile: BrowserContext, side: "server" | "page", messages: number): Promise<void> {
  await profile.routeWebSocket(/\/attach\?.*tty=0/, (route) => {
    const server = route.connectToServer();
    let count = 0;
    const [from, to] = side === "server" ? [server, route] : [route, server];
    from.onMessage((message) => {
      count += 1;
      if (count <= messages) to.send(message);
    });
  });
}
