// The windows and panes of a session that runs under tmux, as the page draws them, beside what tmux itself says.
import { expect } from "vitest";
import { TmuxOfSession } from "../../e2e/support/pane-client.ts";
import { fresh } from "../../e2e/support/system.ts";
import type { Fixture } from "./fixture.ts";
import type { Tab } from "./tab.ts";

export type Paned = {
  readonly tab: Tab;
  readonly tmux: TmuxOfSession;
  readonly sandbox: string;
};

/** A page on a session with one pane, which runs `sh`. */
export async function paned(browser: Fixture): Promise<Paned> {
  const sandbox = fresh("tmux");
  const profile = await browser.member();
  const tab = await browser.open(profile, `/?sandbox=${sandbox}&session=main&panes=1&debug=1&renderer=dom`);
  await pane(tab, "%0").locator('.sbx-terminal[data-state="attached"]').waitFor();
  await inPane(tab, "%0", "PS1='$ '; clear; echo at:$TMUX");
  const [, socket = ""] = await shows(tab, "%0", /^at:(\/[^,]+),/);
  return { tab, tmux: TmuxOfSession.at(socket), sandbox };
}

export const pane = (tab: Tab, id: string) => tab.page.locator(`[data-tmux-pane="${id}"]`);

/** Types a command into the pane that has the focus, once it is this one. */
export async function inPane(tab: Tab, id: string, command: string): Promise<void> {
  await expect.poll(() => pane(tab, id).locator(".xterm-helper-textarea:focus").count()).toBe(1);
  await tab.page.keyboard.type(`${command}\n`);
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
 * The panes that are seen, in tmux's own words: the place by where they are drawn, the size by the emulator's.
 * A pane that is not attached yet has none.
 */
export async function drawn(tab: Tab): Promise<string[]> {
  return tab.page.evaluate(() => {
    const window = document.querySelector(".sbx-tmux-window")?.getBoundingClientRect();
    const tab = document.querySelector('.sbx-tmux-tab[aria-selected="true"]')?.getAttribute("data-window");
    if (window === undefined) return [];
    return [...document.querySelectorAll<HTMLElement>('.sbx-tmux-pane[data-seen="true"]')].map((one) => {
      const terminal = one.querySelector<HTMLElement>(".sbx-terminal");
      const cols = Number(terminal?.dataset.cols);
      const rows = Number(terminal?.dataset.rows);
      const box = one.getBoundingClientRect();
      const left = Math.round(((box.left - window.left) / box.width) * cols);
      const top = Math.round(((box.top - window.top) / box.height) * rows);
      const isAttached = terminal?.dataset.state === "attached";
      return `${one.dataset.tmuxPane} ${tab} ${isAttached ? `${cols}x${rows}+${left}+${top}` : terminal?.dataset.state}`;
    });
  });
}

/** What tmux would have drawn: the panes of its active window, or the one that fills it. */
export function toBeDrawn(tmux: TmuxOfSession): string[] {
  const words = "#{pane_id} #{window_id} #{pane_width}x#{pane_height}+#{pane_left}+#{pane_top}";
  const filter = "#{?window_zoomed_flag,#{&&:#{window_active},#{pane_active}},#{window_active}}";
  return tmux.run("list-panes", "-s", "-f", filter, "-F", words).trimEnd().split("\n");
}

export async function agree(tab: Tab, tmux: TmuxOfSession, message = "page and tmux"): Promise<void> {
  await expect
    .poll(async () => (await drawn(tab)).sort().join() === toBeDrawn(tmux).sort().join(), { message })
    .toBe(true);
}
