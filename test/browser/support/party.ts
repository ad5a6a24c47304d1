// Several people on one session: pages and command lines, and what each of them is told of the others.
import type { BrowserContext } from "playwright-core";
import { afterEach } from "vitest";
import { CLI, cliEnv } from "../../e2e/support/clients/cli.ts";
import { Tmux } from "../../e2e/support/clients/tmux.ts";
import { fresh, person, system } from "../../e2e/support/system/system.ts";
import { type Fixture, setUpBrowser } from "./fixture.ts";
import { PROMPT, type Tab } from "./tab.ts";

/** The organisation that people log in with at the local issuer: their tenant here. */
const ORG = "local";

export type Party = {
  readonly browser: Fixture;
  /** A page on the session. The first one to come makes it. */
  page(sandbox: string, name: string, more?: string, profile?: BrowserContext): Promise<Tab>;
  /** A page that has made the session, with a prompt on it. */
  first(sandbox: string, name: string, more?: string, profile?: BrowserContext): Promise<Tab>;
  /** The command line in a terminal of its own, attached once the prompt is there. */
  commandLine(sandbox: string, name: string, options?: string, scope?: string): Promise<Tmux>;
};

export function addressOf(sandbox: string, name: string, more = ""): string {
  return `/?sandbox=${sandbox}&session=main&debug=1&renderer=dom&name=${name}${more}`;
}

export function setUpParty(): Party {
  const browser = setUpBrowser();
  let terminals: Tmux[] = [];
  afterEach(() => {
    for (const terminal of terminals) terminal.close();
    terminals = [];
  });
  const party: Party = {
    browser,
    async page(sandbox, name, more = "", profile) {
      const tab = await browser.open(profile ?? (await browser.member()), addressOf(sandbox, name, more));
      await tab.state("attached");
      return tab;
    },
    async first(sandbox, name, more, profile) {
      const tab = await party.page(sandbox, name, more, profile);
      await tab.shell();
      return tab;
    },
    async commandLine(sandbox, name, options = "", scope) {
      const who = await person({ sub: fresh("cli"), org: ORG, ...(scope === undefined ? {} : { scope }) });
      const env = { ...cliEnv(who), SBX: `${process.execPath} ${CLI}`, AT: system.origin };
      const terminal = new Tmux(100, 30, env);
      terminals.push(terminal);
      await terminal.shows(/^local\$$/);
      terminal.type(`clear; $SBX $AT --sandbox ${sandbox} --session main --name ${name} ${options}`, "Enter");
      await terminal.endsWith(new RegExp(`^\\${PROMPT}$`));
      return terminal;
    },
  };
  return party;
}

/** What the page says of everybody who is here, in order. */
export const whoIsHere = (tab: Tab) => tab.page.locator(".sbx-person > .sbx-unseen").allTextContents();

/** Waits until the page says this of the keyboard. */
export const keyboardSays = (tab: Tab, words: string, timeout?: number) =>
  tab.page
    .locator(".sbx-field-words")
    .filter({ hasText: words })
    .waitFor(timeout === undefined ? { state: "attached" } : { state: "attached", timeout });

/** Waits until a screen reader is told this. */
export const tells = (tab: Tab, words: string) =>
  tab.page.locator(".sbx-people [aria-live]").filter({ hasText: words }).waitFor({ state: "attached" });
