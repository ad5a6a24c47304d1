// The windows and panes of a session that runs under tmux, as the page draws them, beside what tmux itself says.
import type { BrowserContextOptions } from "playwright-core";
import { expect } from "vitest";
import { TmuxOfSession } from "../../e2e/support/clients/pane-client.ts";
import { fresh } from "../../e2e/support/system/system.ts";
import type { Fixture } from "./fixture.ts";
import { enter, type Tab } from "./tab.ts";

export type Paned = {
  readonly tab: Tab;
  readonly tmux: TmuxOfSession;
  readonly sandbox: string;
};

/** A page on a session with one pane, which runs `sh`. */
export async function paned(
  browser: Fixture,
  { sandbox = fresh("tmux"), ...look }: { sandbox?: string } & BrowserContextOptions = {},
): Promise<Paned> {
  const profile = await browser.member(look);
  const tab = await browser.open(profile, `/?sandbox=${sandbox}&session=main&panes=1&debug=1&renderer=dom`);
  await pane(tab, "%0").locator('.sbx-terminal[data-state="attached"]').waitFor();
  await inPane(tab, "%0", "PS1='$ '; clear; echo at:$TMUX");
  const [, socket = ""] = await shows(tab, "%0", /^at:(\/[^,]+),/);
  return { tab, tmux: TmuxOfSession.at(socket), sandbox };
}

export const pane = (tab: Tab, id: string) => tab.page.locator(`[data-tmux-pane="${id}"]`);

/** Gives a pane the keyboard. @returns false if it is gone: an order to close it was followed only now. */
export async function goTo(tab: Tab, id: string): Promise<boolean> {
  const fields = pane(tab, id).locator("textarea");
  return fields.evaluateAll((all) => {
    all[0]?.focus();
    return all.length > 0;
  });
}

/** Types a command into the pane that has the focus, once it is this one. */
export async function inPane(tab: Tab, id: string, command: string): Promise<void> {
  await expect.poll(() => pane(tab, id).locator(".xterm-helper-textarea:focus").count()).toBe(1);
  // dash draws no line again that was typed before its prompt.
  await expect.poll(() => rowsOf(tab, id)).toContainEqual(expect.stringMatching(/[$#]$/));
  await enter(tab.page, command);
}

/** The rows of a pane, as they are drawn. */
export async function rowsOf(tab: Tab, id: string): Promise<string[]> {
  const rows = await pane(tab, id).locator(".xterm-rows > div").allTextContents();
  return rows.map((row) => row.replaceAll("\u00a0", " ").trimEnd());
}

export async function shows(tab: Tab, id: string, pattern: RegExp): Promise<RegExpExecArray> {
  let found: RegExpExecArray | undefined;
  const look = async () => {
    const matches = (await rowsOf(tab, id)).map((row) => pattern.exec(row));
    found = matches.find((match) => match !== null) ?? undefined;
    return found !== undefined;
  };
  await expect.poll(look, { message: `${pattern} in pane ${id}` }).toBe(true);
  if (found === undefined) throw new Error("Cannot lose a match");
  return found;
}

/**
 * The windows and the panes that are seen, in tmux's own words: place and size by the box that they are
 * drawn in, which the emulator fills, the active pane by the page's focus. A pane that is not attached yet has none.
 */
async function told(tab: Tab): Promise<string[]> {
  return tab.page.evaluate(() => {
    const window = document.querySelector(".sbx-tmux-window")?.getBoundingClientRect();
    const tabs = [...document.querySelectorAll<HTMLElement>(".sbx-tmux-tab")].map(
      (one) => `${one.dataset.window} ${one.getAttribute("aria-selected") === "true" ? 1 : 0} ${one.textContent}`,
    );
    // The terminal behind has the cells in which all of them stand.
    const whole = document.querySelector<HTMLElement>(".sbx-terminal:has(.sbx-tmux)");
    const cells = whole?.querySelector(".sbx-stage .xterm-screen")?.getBoundingClientRect();
    if (window === undefined || whole === null || cells === undefined) return tabs;
    const [width, height] = [cells.width / Number(whole.dataset.cols), cells.height / Number(whole.dataset.rows)];
    const panes = [...document.querySelectorAll<HTMLElement>('.sbx-tmux-pane[data-seen="true"]')].map((one) => {
      const terminal = one.querySelector<HTMLElement>(".sbx-terminal");
      const state = terminal?.dataset.state;
      if (terminal === null || state !== "attached") return `${one.dataset.tmuxPane} ${state}`;
      const [ofCols, ofRows] = [Number(terminal.dataset.cols), Number(terminal.dataset.rows)];
      const box = one.getBoundingClientRect();
      const [cols, rows] = [Math.round(box.width / width), Math.round(box.height / height)];
      const [left, top] = [Math.round((box.left - window.left) / width), Math.round((box.top - window.top) / height)];
      // The emulator is two columns wide at least: of the second one, nothing is seen then.
      if (ofCols !== Math.max(cols, 2) || ofRows !== rows) return `${one.dataset.tmuxPane} in ${ofCols}x${ofRows}`;
      const active = one.dataset.focus === "true" ? 1 : 0;
      return `${one.dataset.tmuxPane} ${active} ${cols}x${rows}+${left}+${top}`;
    });
    return [...tabs, ...panes];
  });
}

/** What tmux would have drawn: its windows, and the panes of the active one, or the one that fills it. */
function toBeTold(tmux: TmuxOfSession): string[] {
  const told = tmux.run("list-windows", "-F", "#{window_id} #{window_active} #{window_name}").trimEnd().split("\n");
  // A tab says its place, from 1 on, before its name.
  const windows = told.map((line, index) => line.replace(/^(\S+ \d) /, `$1 ${index + 1}: `));
  const filter = "#{?window_zoomed_flag,#{&&:#{window_active},#{pane_active}},#{window_active}}";
  const words = "#{pane_id} #{pane_active} #{pane_width}x#{pane_height}+#{pane_left}+#{pane_top}";
  const panes = tmux.run("list-panes", "-s", "-f", filter, "-F", words).trimEnd().split("\n");
  // Of one that is alone, the page need not say that it has the focus.
  const alone = panes.map((pane) => (panes.length === 1 ? pane.replace(" 1 ", " 0 ") : pane));
  return [...windows, ...alone];
}

/** The panes that are seen. */
export async function seenPanes(tab: Tab): Promise<string[]> {
  const ids = await tab.page
    .locator('.sbx-tmux-pane[data-seen="true"]')
    .evaluateAll((panes) => panes.map((one) => one.getAttribute("data-tmux-pane") ?? ""));
  return ids.sort();
}

/** Waits until the page draws what tmux has. */
export async function agree(tab: Tab, tmux: TmuxOfSession, message = "page and tmux"): Promise<void> {
  let both: [string, string] = ["", ""];
  const look = async () => {
    both = [(await told(tab)).sort().join(", "), toBeTold(tmux).sort().join(", ")];
    return both[0] === both[1];
  };
  try {
    await expect.poll(look).toBe(true);
  } catch (error) {
    throw new Error(`No agreement, ${message}\n  page: ${both[0]}\n  tmux: ${both[1]}`, { cause: error });
  }
}
