// Recordings in Chromium: the stock asciinema-player of the registry watches a session of ours (G7) and plays its .cast; our own page
// has a timeline, whose routes are answered by the test here. `SBX_LOAD=full` (test:long): more cuts, and what `whole` names.
import type { BrowserContext, Page } from "playwright-core";
import { expect, test } from "vitest";
import { NOW_AND_THEN } from "../../packages/dashboard/test/browser.ts";
import { exitCode, startCli, textOf } from "../e2e/support/clients/cli.ts";
import { connect, type TestClient } from "../e2e/support/clients/client.ts";
import { api, fresh, type Person, person, system } from "../e2e/support/system/system.ts";
import { setUpBrowser } from "./support/fixture.ts";
import { playerCells, playWith, watchWith, xtermCells } from "./support/player.ts";

const browser = setUpBrowser();
const SIZE = { cols: 60, rows: 16 };
const isWhole = process.env.SBX_LOAD === "full";
const CUTS = isWhole ? 50 : 3;
const whole: (title: string, run: () => Promise<void>) => void = isWhole ? test : () => undefined;

/** Says "frame N" in colours for each line that it reads, and scrolls; at "bye" it ends. */
const SCRIPT = String.raw`stty -echo; printf '\033[?25lready\n'
while read -r n; do
  [ "$n" = bye ] && exit 7
  printf '\033[38;2;10;200;30mframe %s\033[0m \033[1;4mé日👩\033[0m \033[48;2;9;8;7m  x\033[0m\n' "$n"
  [ $((n % 7)) = 0 ] && printf '\033[2;9r\033[9;1H\n\n\033[3mscrolled\033[0m\033[r\033[16;1H'
done`;

type Watched = {
  readonly alice: Person;
  readonly session: string;
  readonly creator: TestClient;
  readonly ticket: string;
};

async function watched(): Promise<Watched> {
  const [alice, session] = [await person(), fresh("s")];
  const creator = await connect(alice, { session, cmd: "sh", arg: ["-c", SCRIPT], tty: 1, ...SIZE });
  await creator.output("ready");
  const answer = await api(alice, `/api/sandboxes/default/sessions/${session}/share`, {
    method: "POST",
    body: JSON.stringify({ guests: true }),
  });
  const { ticket } = (await answer.json()) as { ticket: string };
  return { alice, session, creator, ticket };
}

const watch = async ({ session, ticket }: Watched, profile?: BrowserContext): Promise<Page> => {
  const url = `${system.origin.replace(/^http/, "ws")}/watch/default/${session}?ticket=${ticket}`;
  return watchWith(browser, profile ?? (await browser.profile()), url);
};

const shows = (page: Page, text: string) =>
  page.waitForFunction(
    (text) => document.querySelector(".ap-term-text")?.textContent?.includes(text),
    text,
    NOW_AND_THEN,
  );
const eventsOf = (page: Page): Promise<string[]> => page.evaluate(() => window.stock.events);

test(`G7: the player attaches live, survives ${CUTS} cuts, and ends in the same cells as xterm.js`, async () => {
  const session = await watched();
  const page = await watch(session);
  await shows(page, "ready");
  for (let n = 1; n <= CUTS; n += 1) {
    browser.link.cut();
    session.creator.type(`${n}\n`);
    await session.creator.output(`frame ${n}\x1b`);
    browser.link.mend();
    await shows(page, `frame ${n}`);
  }
  session.creator.type("9999\n");
  await shows(page, "frame 9999");
  const wanted = await xtermCells(session.creator.bytes(), SIZE);
  expect(wanted.length).toBeGreaterThan(50);
  await expect.poll(() => playerCells(page)).toEqual(wanted);
  const connections = (await eventsOf(page)).filter((event) => event === "playing").length;
  expect(connections).toBeGreaterThan(CUTS);
});

whole("G7: the player is told the exit, and that a link was revoked, and does not come back", async () => {
  const session = await watched();
  const page = await watch(session);
  await shows(page, "ready");
  // What is printed in the last moment is shown, too.
  session.creator.type("last\nbye\n");
  await expect.poll(async () => (await eventsOf(page)).at(-1)).toBe("ended Stream ended");
  expect(await page.locator(".ap-term-text").textContent()).toContain("frame last");
  const late = await watch(session);
  await expect.poll(async () => (await eventsOf(late)).at(-1)).toBe("ended Stream ended");
  expect(await late.locator(".ap-term-text").textContent()).toContain("frame last");

  const other = await watched();
  const second = await watch(other);
  await shows(second, "ready");
  const tickets = `/api/sandboxes/default/sessions/${other.session}/tickets`;
  const list = (await (await api(other.alice, tickets)).json()) as { tickets: { id: string }[] };
  await api(other.alice, `${tickets}/${list.tickets[0]?.id}`, { method: "DELETE" });
  await expect.poll(async () => (await eventsOf(second)).at(-1)).toBe("ended the ticket was revoked");
});

whole("a .cast of `record`, played by the player to its end, ends in the same cells as xterm.js", async () => {
  const { alice, session, creator } = await watched();
  const child = startCli(alice, ["--session", session, "--idle-limit", "1"], "record");
  const code = exitCode(child);
  const cast = textOf(child.stdout);
  await new Promise((resolve) => child.stdout.once("data", resolve));
  for (let n = 1; n <= 40; n += 1) creator.type(`${n}\n`);
  await creator.output("frame 40\x1b");
  creator.type("bye\n");
  expect(await code).toBe(0);
  const page = await playWith(browser, await browser.profile(), await cast);
  await expect.poll(() => playerCells(page)).toEqual(await xtermCells(creator.bytes(), SIZE));
});

whole("G7: the player on our own page comes by the login's cookie", async () => {
  const profile = await browser.member();
  const sandbox = fresh("watched");
  const tab = await browser.open(profile, `/?sandbox=${sandbox}&session=main&debug=1&renderer=dom`);
  await tab.shell();
  const page = await watchWith(browser, profile, `${system.origin.replace(/^http/, "ws")}/watch/${sandbox}/main`);
  await tab.run("echo seen $((6 * 7))");
  await shows(page, "seen 42");
});

// ---- The page's timeline -----------------------------------------------------------------------------------------------
const START = "2026-11-29T14:00:00.000Z";
const time = (seconds: number) => new Date(Date.parse(START) + seconds * 1000).toISOString();
const HEADER = '{"version":3,"term":{"cols":60,"rows":10}}\n';

/** What the server's recording is, from each place on. */
const CASTS: Readonly<Record<string, string>> = {
  "": `${HEADER}[0,"o","at the start\\r\\n"]\n[30,"o","\\u001b[1mhalf a minute\\u001b[0m\\r\\n"]\n[30,"r","50x8"]\n[0,"x","0"]\n`,
  "1000": `${HEADER}[0,"o","\\u001bcat the command\\r\\n"]\n[40,"o","never"]\n`,
  "4000": `${HEADER}[0,"o","\\u001bcat the match\\r\\n"]\n[40,"o","never"]\n`,
  [time(20)]: `${HEADER}[0,"o","\\u001bcat the moment\\r\\n"]\n[40,"o","never"]\n`,
};

async function serve(profile: BrowserContext, sandbox: string): Promise<void> {
  const base = `/api/sandboxes/${sandbox}/sessions/main/`;
  await profile.route(
    (url) => url.pathname.startsWith(`${base}recording`) || url.pathname === `${base}commands`,
    async (route) => {
      const { pathname, searchParams } = new URL(route.request().url());
      const answers: Readonly<Record<string, object>> = {
        recordings: { recordings: [{ incarnation: "i1", startedAt: START, endedAt: time(60), bytes: 1, seconds: 60 }] },
        commands: { commands: [{ from: 1000, startedAt: time(10), line: "make" }], next: 1 },
        "recording/search": { hits: [{ offset: 4000, time: time(40), line: "x" }], searchedTo: 9000 },
      };
      const answer = answers[pathname.slice(base.length)];
      if (answer !== undefined) await route.fulfill({ json: answer });
      else await route.fulfill({ body: CASTS[searchParams.get("from") ?? ""] ?? "none", contentType: "text/plain" });
    },
  );
}

whole(
  "a link to a moment shows it; the timeline plays, jumps to commands and matches, and goes back to live",
  async () => {
    const profile = await browser.member();
    const sandbox = fresh("recorded");
    await serve(profile, sandbox);
    const tab = await browser.open(
      profile,
      `/?sandbox=${sandbox}&session=main&debug=1&renderer=dom&at=${time(20)}&of=i1`,
    );
    const { page } = tab;
    const bar = page.getByRole("group", { name: "Recording" });
    const rows = page.locator(".sbx-replay .xterm-rows");
    const shows = (text: string) => rows.getByText(text).waitFor();
    await shows("at the moment");
    expect(await bar.getByLabel("Moment").inputValue()).toBe(String(Date.parse(time(20))));

    await bar.getByRole("button", { name: "Previous command" }).click();
    await shows("at the command");
    await bar.getByLabel("Search the recording").fill("x");
    await bar.getByLabel("Search the recording").press("Enter");
    await shows("at the match");
    await bar.getByText("1 of 1").waitFor();

    await bar.getByLabel("Moment").fill(String(Date.parse(START)));
    // The test has no recording from the start by time: the server's words are shown.
    await bar.getByText("Recording: line 1 is not JSON").waitFor();
    expect(await bar.getByRole("link", { name: "Download" }).getAttribute("href")).toBe(
      `/api/sandboxes/${sandbox}/sessions/main/recording?incarnation=i1`,
    );
    await bar.getByRole("button", { name: "Back to live" }).click();
    await tab.shell();
    await tab.run("echo live $((6 * 7))");
    await tab.shows("live 42");
    expect(await rows.count()).toBe(0);
  },
);

whole("a recording plays to its end at its speed, skipping idle time, with its sizes", async () => {
  const profile = await browser.member();
  const sandbox = fresh("recorded");
  await serve(profile, sandbox);
  const tab = await browser.open(
    profile,
    `/?sandbox=${sandbox}&session=main&debug=1&renderer=dom&at=${time(20)}&of=i1`,
  );
  const { page } = tab;
  const bar = page.getByRole("group", { name: "Recording" });
  await page.locator(".sbx-replay .xterm-rows").getByText("at the moment").waitFor();
  await bar.getByLabel("Speed").selectOption("16");
  await bar.getByRole("button", { name: "Play" }).click();
  await page.locator(".sbx-replay .xterm-rows").getByText("never").waitFor();
  await bar.getByRole("button", { name: "Play" }).waitFor();
  expect(await bar.getByLabel("Moment").inputValue()).toBe(String(Date.parse(time(60))));
});

test("a session that is recorded: its timeline opens at now, is searched and linked to; its .cast plays in the player", async () => {
  const { tab } = await browser.shell({ query: "&record=1" });
  const { page } = tab;
  await tab.run("printf '\\033[1mfir%s\\033[0m\\n' st-mark");
  await tab.shows("first-mark");
  await tab.run("clear; echo second-$((40 + 2))");
  await tab.shows("second-42");
  await page.getByRole("button", { name: "Recording" }).click();
  const bar = page.getByRole("group", { name: "Recording" });
  const rows = page.locator(".sbx-replay .xterm-rows");
  await rows.getByText("second-42").waitFor();
  await bar.getByLabel("Search the recording").fill("first-mark");
  await bar.getByLabel("Search the recording").press("Enter");
  await bar.getByText("1 of 1").waitFor();
  await rows.getByText("first-mark").waitFor();
  await bar.getByRole("button", { name: "Play" }).click();
  await rows.getByText("second-42").waitFor();

  const href = await bar.getByRole("link", { name: "Download" }).getAttribute("href");
  const cast = await page.evaluate(async (path) => (await fetch(path)).text(), href ?? "");
  expect(cast).toContain("first-mark");
  const player = await playWith(browser, page.context(), cast);
  await shows(player, "second-42");

  // A visitor whose link gives the recording sees it too, at the moment that they are told.
  const at = (await bar.locator("time").getAttribute("datetime")) ?? "";
  await tab.button("Share");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Who may use the link").selectOption("guests");
  await dialog.getByLabel("and see its recording").check();
  await dialog.getByRole("button", { name: "Copy link" }).click();
  const moment = new URL(await dialog.locator(".sbx-made-link > input").inputValue());
  await dialog.getByText("can view and see its recording").waitFor();
  moment.searchParams.set("at", at);
  const guest = await browser.open(
    await browser.profile(),
    `${moment.pathname}${moment.search}&renderer=dom${moment.hash}`,
  );
  await guest.page.locator(".sbx-replay .xterm-rows").getByText("second-42").waitFor();
  await guest.page.getByLabel("Search the recording").fill("first-mark");
  await guest.page.getByLabel("Search the recording").press("Enter");
  await guest.page.getByText("1 of 1").waitFor();
});
