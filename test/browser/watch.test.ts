// The stock asciinema-player of the registry in Chromium watches a session of ours (G7).
import type { BrowserContext, Page } from "playwright-core";
import { expect, test } from "vitest";
import { exitCode, startCli, textOf } from "../e2e/support/clients/cli.ts";
import { connect, type TestClient } from "../e2e/support/clients/client.ts";
import { api, fresh, type Person, person, system } from "../e2e/support/system/system.ts";
import { setUpBrowser } from "./support/fixture.ts";
import { playerCells, playWith, watchWith, xtermCells } from "./support/player.ts";

const browser = setUpBrowser();
const SIZE = { cols: 60, rows: 16 };
const CUTS = process.env.SBX_LOAD === "full" ? 50 : 10;

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
  page.waitForFunction((text) => document.querySelector(".ap-term-text")?.textContent?.includes(text), text);
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
  expect(wanted.length).toBeGreaterThan(100);
  await expect.poll(() => playerCells(page)).toEqual(wanted);
  const connections = (await eventsOf(page)).filter((event) => event === "playing").length;
  expect(connections).toBeGreaterThan(CUTS);
});

test("G7: the player is told the exit, and that a link was revoked, and does not come back", async () => {
  const session = await watched();
  const page = await watch(session);
  await shows(page, "ready");
  session.creator.type("bye\n");
  await expect.poll(async () => (await eventsOf(page)).at(-1)).toBe("ended Stream ended");

  const other = await watched();
  const second = await watch(other);
  await shows(second, "ready");
  const tickets = `/api/sandboxes/default/sessions/${other.session}/tickets`;
  const list = (await (await api(other.alice, tickets)).json()) as { tickets: { id: string }[] };
  await api(other.alice, `${tickets}/${list.tickets[0]?.id}`, { method: "DELETE" });
  await expect.poll(async () => (await eventsOf(second)).at(-1)).toBe("ended the ticket was revoked");
});

test("a .cast of `record`, played by the player to its end, ends in the same cells as xterm.js", async () => {
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

test("G7: the player on our own page comes by the login's cookie", async () => {
  const profile = await browser.member();
  const sandbox = fresh("watched");
  const tab = await browser.open(profile, `/?sandbox=${sandbox}&session=main&debug=1&renderer=dom`);
  await tab.shell();
  const page = await watchWith(browser, profile, `${system.origin.replace(/^http/, "ws")}/watch/${sandbox}/main`);
  await tab.run("echo seen $((6 * 7))");
  await shows(page, "seen 42");
});
