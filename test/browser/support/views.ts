// Walks through each view of the page that a person may be before, to be looked at by tests.
import { fresh } from "../../e2e/support/system/system.ts";
import type { Fixture } from "./fixture.ts";
import { focused, pane as paneOf } from "./panes.ts";
import type { Tab } from "./tab.ts";
import { pane } from "./tmux-panes.ts";
import { dialog, member, press, type See, sandboxOf, shell, type Walk } from "./view.ts";
import { connectionWalks, lost } from "./views-of-connections.ts";
import { links, transferWalks } from "./views-of-output.ts";

const THEME = {
  name: "Forest",
  type: "dark",
  colors: {
    "terminal.background": "#10241c",
    "terminal.foreground": "#d8e6dc",
    "terminalCursor.foreground": "#7ee2a8",
  },
};

/** Opens the list and asks for this. */
async function list(tab: Tab, query: string): Promise<void> {
  await press(tab, "Control+Shift+P");
  await dialog(tab);
  await tab.page.keyboard.type(query);
}

/** Opens the list, with the page's own session chosen, and presses a button there. */
async function inList(tab: Tab, button: string): Promise<void> {
  await list(tab, `${sandboxOf(tab)} main`);
  await tab.page
    .getByRole("option", { selected: true })
    .filter({ hasText: sandboxOf(tab) })
    .waitFor();
  await tab.page.getByRole("dialog").getByRole("button", { name: button }).click();
}

/** Has the list find fifty sessions. */
async function fifty({ page }: Tab): Promise<void> {
  await page.route(/\/api\/sandboxes\/[^/]*\/sessions\?/, async (route) => {
    const answer = (await (await route.fetch()).json()) as { sessions: Record<string, unknown>[] };
    const [first = {}] = answer.sessions;
    const more = Array.from({ length: 49 }, (_, i) => ({ ...first, session: `build-${i + 1}`, clients: i % 3 }));
    await route.fulfill({ json: { sessions: [...answer.sessions, ...more] } });
  });
  const screen = { cols: 80, rows: 24, lines: ["$ npm test", "all of it is good", "$ "] };
  await page.route("**/sessions/build-*/screen", (route) => route.fulfill({ json: screen }));
}

async function paste(tab: Tab, text: string): Promise<void> {
  await tab.page.locator(".xterm-helper-textarea").evaluate((field, text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", text);
    field.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  }, text);
}

async function importTheme(tab: Tab, name: string, text: string): Promise<void> {
  const file = { name, mimeType: "text/plain", buffer: Buffer.from(text) };
  await tab.page.getByLabel("Import a theme…").setInputFiles(file);
}

async function printed(see: See, tab: Tab): Promise<void> {
  const { page } = tab;
  await press(tab, "Control+Shift+F");
  await page.getByRole("search").waitFor();
  await see("a search", tab);
  await tab.run("seq 1 200");
  await tab.find(/^200$/);
  await press(tab, "Shift+PageUp");
  await page.getByRole("button", { name: "↓ Newest" }).waitFor();
  await see("an earlier place in the output", tab);
  await press(tab, "Control+Shift+L");
  await page.getByText(/bytes to draw$/).waitFor();
  await see("how slow the link is", tab);
  await tab.run("clear; echo ready; cat");
  await tab.shows("ready");
  await paste(tab, "one\ntwo");
  await dialog(tab);
  await see("a paste that is asked about", tab);
  await press(tab, "Control+C");
  await press(tab, "Control+Shift+Comma");
  await dialog(tab);
  await importTheme(tab, "forest.json", JSON.stringify(THEME));
  await page.getByText("Theme: Forest").waitFor();
  await importTheme(tab, "photo.json", "not a theme");
  await page.getByText("photo.json is not a theme").waitFor();
  await see("a theme of one's own", tab);
  await tab.button("Screen reader");
  await tab.run("clear; printf 'ok \\e[32mgreen\\e[m \\e[31mred\\e[m \\e[1;34mbold\\e[m\\n'");
  await tab.find(/^ok green red bold$/);
  await see("the mode for screen readers", tab);
  await tab.button("Screen reader");
}

const ownWalks = (browser: Fixture): Readonly<Record<string, Walk>> => ({
  "a shell, its dialogs, what is printed in it, and its end": async (see) => {
    const tab = await shell(browser);
    const { page } = tab;
    await see("a shell", tab);
    await press(tab, "Control+Shift+Slash");
    await page.getByRole("button", { name: /^Search the output: / }).press("Enter");
    await see("the sheet of keys", tab);
    await list(tab, "");
    await page.getByRole("option").filter({ hasText: "main" }).first().waitFor();
    await see("the list of sessions", tab);
    await inList(tab, "Rename…");
    await page.getByRole("dialog").getByLabel("Name for main").waitFor();
    await see("a session that is named", tab);
    await inList(tab, "End…");
    await page.getByRole("dialog").getByRole("alertdialog").waitFor();
    await see("the end of a session, asked about", tab);
    await fifty(tab);
    await list(tab, `${sandboxOf(tab)} build`);
    await page.getByRole("option").filter({ hasText: "build-49" }).waitFor();
    await page.keyboard.press("PageDown");
    await see("a list of fifty sessions", tab);
    await press(tab, "Control+Shift+Comma");
    await dialog(tab);
    await see("the settings", tab);
    await tab.button("Share");
    await tab.button("Copy link");
    await page.getByLabel(/^Link, valid/).waitFor();
    await see("a link that is made", tab);
    await links(see, tab);
    await lost(see, tab, browser.link);
    await printed(see, tab);
    await tab.run("exit 3");
    await tab.says("Process exited with code 3");
    await see("an exit", tab);
    await press(tab, "Escape");
    await page.getByRole("heading", { name: "Closed" }).waitFor();
    await see("a closed session", tab);
  },
  "a recording, tabs and panes": async (see) => {
    const tab = await shell(browser, "&tabs=1&record=1");
    await tab.run("echo recorded");
    await tab.shows("recorded");
    await tab.button("Recording");
    await tab.page.getByLabel("Moment").waitFor();
    await see("a recording's timeline", tab);
    await tab.button("Back to live");
    await tab.page.getByLabel("Moment").waitFor({ state: "detached" });
    await press(tab, "Control+Shift+D");
    const second = await focused(tab, 2);
    await see("two panes", tab);
    await paneOf(tab, second).locator(".xterm-helper-textarea").press("Control+Shift+X");
    await focused(tab, 1);
    await tab.keepUndo();
    await tab.page.getByRole("tab", { name: "main" }).focus();
    await tab.page.keyboard.press("Delete");
    await tab.page.getByRole("heading", { name: "No open sessions" }).last().waitFor();
    await see("nothing open", tab);
  },
  "panes of a session": async (see) => {
    const profile = await member(browser);
    const tab = await browser.open(profile, `/?sandbox=${fresh("axe")}&session=main&panes=1&debug=1&renderer=dom`);
    await pane(tab, "%0").locator('.sbx-terminal[data-state="attached"]').waitFor();
    await tab.page.getByRole("button", { name: /^Split down/ }).click();
    await pane(tab, "%1").locator('.sbx-terminal[data-state="attached"]').waitFor();
    await see("panes of a session", tab);
    await tab.page.getByRole("button", { name: "Close pane (ends its program)" }).click();
    await tab.page.getByRole("button", { name: "End program" }).waitFor();
    await see("a pane that is to end", tab);
  },
});

/** Every view of the page is on one of them. */
export const walksOf = (browser: Fixture): Readonly<Record<string, Walk>> => ({
  ...ownWalks(browser),
  ...transferWalks(browser),
  ...connectionWalks(browser),
});
