// Several people on one session, over the running system: two pages and a command line, and what each of them sees.
import { readFileSync } from "node:fs";
import type { BrowserContext } from "playwright-core";
import { afterEach, describe, expect, test } from "vitest";
import { CLI, cliEnv } from "../e2e/support/cli.ts";
import { fresh, person, system } from "../e2e/support/system.ts";
import { Tmux } from "../e2e/support/tmux.ts";
import { until } from "../e2e/support/wait.ts";
import { setUpBrowser } from "./support/fixture.ts";
import { PROMPT, type Tab } from "./support/tab.ts";

const browser = setUpBrowser();

/** The organisation that people log in with at the local issuer: their tenant here. */
const ORG = "local";

let terminals: Tmux[] = [];
afterEach(() => {
  for (const terminal of terminals) terminal.close();
  terminals = [];
});

const address = (sandbox: string, name: string, more = "") =>
  `/?sandbox=${sandbox}&session=main&debug=1&renderer=dom&name=${name}${more}`;

/** A page on the session. The first one to come makes it. */
async function page(sandbox: string, name: string, more = "", profile?: BrowserContext): Promise<Tab> {
  const tab = await browser.open(profile ?? (await browser.member()), address(sandbox, name, more));
  await tab.state("attached");
  return tab;
}

/** A page that has made an exclusive session, with a prompt on it. */
async function holder(sandbox: string, name: string): Promise<Tab> {
  const tab = await page(sandbox, name, "&mode=exclusive");
  await tab.shell();
  return tab;
}

/** The command line in a terminal of its own, attached once the prompt is there. */
async function commandLine(sandbox: string, name: string, options = "", scope?: string): Promise<Tmux> {
  const who = await person({ sub: fresh("cli"), org: ORG, ...(scope === undefined ? {} : { scope }) });
  const env = { ...cliEnv(who), SBX: `${process.execPath} ${CLI} ${system.origin}` };
  const terminal = new Tmux(100, 30, env);
  terminals.push(terminal);
  await terminal.shows(/^local\$$/);
  terminal.type(`clear; $SBX --sandbox ${sandbox} --session main --name ${name} ${options}`, "Enter");
  await terminal.endsWith(new RegExp(`^\\${PROMPT}$`));
  return terminal;
}

/** The program that a terminal's shell has started. */
function childOf(shell: number): number {
  const children = readFileSync(`/proc/${shell}/task/${shell}/children`, "utf8").trim().split(" ").map(Number);
  if (children.length !== 1 || children[0] === undefined) throw new Error(`Cannot tell which of ${children} it is`);
  return children[0];
}

const whoIsHere = (tab: Tab) => tab.page.locator(".sbx-person > .sbx-unseen").allTextContents();
const keyboardSays = (tab: Tab, words: string) =>
  tab.page.locator(".sbx-field-words").filter({ hasText: words }).waitFor();
const tells = (tab: Tab, words: string) =>
  tab.page.locator(".sbx-people [aria-live]").filter({ hasText: words }).waitFor({ state: "attached" });

describe("who is here", () => {
  test("two pages and a command line see each other come and go, in the same colours", async () => {
    const sandbox = fresh("people");
    const ann = await page(sandbox, "Ann");
    await ann.shell();
    const bob = await page(sandbox, "Bob");
    await tells(ann, "Bob joined");
    const cli = await commandLine(sandbox, "Cli", "--status");
    await cli.shows(/^sbx-stdio: 3 here: Ann, Bob, Cli \(you\); everyone but viewers may type; connected$/);
    await tells(bob, "Cli joined");
    expect(await whoIsHere(ann)).toEqual(["Ann, you", "Bob", "Cli"]);
    expect(await whoIsHere(bob)).toEqual(["Ann", "Bob, you", "Cli"]);
    await keyboardSays(bob, "Everyone may type");
    const colours = (tab: Tab) =>
      tab.page.locator(".sbx-face").evaluateAll((all) => all.map((face) => getComputedStyle(face).backgroundColor));
    expect(await colours(ann)).toEqual(await colours(bob));

    await ann.run("echo one by ann");
    await bob.shows("one by ann");
    await cli.shows(/^one by ann$/);
    cli.type("echo two by cli", "Enter");
    await ann.shows("two by cli");

    cli.type("", "C-]");
    await tells(ann, "Cli left");
    await bob.button("Log out");
    await tells(ann, "Bob left");
    expect(await whoIsHere(ann)).toEqual(["Ann, you"]);
  });
});

describe("an exclusive session", () => {
  test("has one hand on its keyboard: asked for, given from page to page to command line, released", async () => {
    const sandbox = fresh("hand");
    const ann = await holder(sandbox, "Ann");
    const bob = await page(sandbox, "Bob");
    await keyboardSays(bob, "Ann has the keyboard");
    await bob.type("x");
    await tells(bob, "Read only: Ann has the keyboard");

    await bob.button("Ask");
    await tells(ann, "Bob asks for the keyboard");
    await ann.button("Give it");
    await tells(bob, "You have the keyboard");
    await keyboardSays(ann, "Bob has the keyboard");
    await bob.run("echo typed by bob");
    await ann.shows("typed by bob");

    const cli = await commandLine(sandbox, "Cli");
    cli.type("y");
    await cli.shows(/^sbx-stdio: read only: Bob has the keyboard \(Ctrl\+\^ a asks for it\)$/);
    cli.type("", "C-^", "a");
    await tells(bob, "Cli asks for the keyboard");
    await bob.button("Give it");
    await cli.shows(/^sbx-stdio: You have the keyboard$/);
    cli.type("echo typed by cli", "Enter");
    await bob.shows("typed by cli");

    await ann.button("Ask");
    await cli.shows(/^sbx-stdio: Ann asks for the keyboard \(Ctrl\+\^ g gives it\)$/);
    cli.type("", "C-^", "r");
    await keyboardSays(ann, "The keyboard is free");
    await ann.button("Take it");
    await keyboardSays(ann, "You have the keyboard");
    await ann.run("echo typed by ann");
    await bob.shows("typed by ann");
    // What was typed in vain never came.
    const lines = await ann.lines();
    expect(lines.filter((line) => line.startsWith(PROMPT))).toEqual([
      `${PROMPT} echo typed by bob`,
      `${PROMPT} echo typed by cli`,
      `${PROMPT} echo typed by ann`,
      PROMPT,
    ]);
  });

  test("is taken over by an administrator, from the page and from the command line, and by nobody else", async () => {
    const sandbox = fresh("force");
    const ann = await holder(sandbox, "Ann");
    expect(await ann.page.getByRole("button", { name: "Take over" }).count()).toBe(0);
    const plain = await commandLine(sandbox, "Plain");
    plain.type("", "C-^", "t");
    await plain.shows(/^sbx-stdio: not allowed$/);

    const profile = await browser.profile();
    const root = await browser.open(profile, address(sandbox, "Root"));
    await root.page.getByRole("link", { name: "Log in" }).click();
    // The issuer grants what is asked for: here it is asked for more.
    await root.page
      .locator('input[name="scope"]')
      .evaluate((input: HTMLInputElement) => input.setAttribute("value", `${input.value} sandbox:admin`));
    await root.page.getByRole("button", { name: "Continue as bob" }).click();
    await root.state("attached");
    await root.button("Take over");
    await keyboardSays(ann, "Root has the keyboard");
    await root.run("echo typed by root");
    await ann.shows("typed by root");

    const admin = await commandLine(sandbox, "Admin", "", "sandbox:admin");
    admin.type("", "C-^", "t");
    await keyboardSays(ann, "Admin has the keyboard");
  });

  test("waits 30 s for a holder that has vanished, then its keyboard is free", { timeout: 120_000 }, async () => {
    const sandbox = fresh("vanish");
    const ann = await holder(sandbox, "Ann");
    const cli = await commandLine(sandbox, "Cli");
    await ann.page.getByRole("button", { name: "Give the keyboard to Cli" }).click();
    await cli.shows(/^sbx-stdio: You have the keyboard$/);
    cli.type("echo here", "Enter");
    await ann.shows("here");
    const vanishedAt = performance.now();
    process.kill(childOf(Number(cli.value("#{pane_pid}"))), "SIGKILL");
    const free = ann.page.locator(".sbx-field-words").filter({ hasText: "The keyboard is free" });
    await free.waitFor({ timeout: 60_000 });
    const seconds = (performance.now() - vanishedAt) / 1000;
    expect(seconds > 25 && seconds < 45, `${seconds} s`).toBe(true);
    expect(await whoIsHere(ann)).toEqual(["Ann, you"]);
    await ann.button("Take it");
    await ann.run("echo back");
    await ann.shows("back");
  });

  test("has the size of the holder's window, and stands in a frame in the others'", async () => {
    const sandbox = fresh("frame");
    const small = await browser.open(
      await browser.member({ viewport: { width: 560, height: 400 } }),
      address(sandbox, "Small", "&mode=exclusive"),
    );
    await small.shell();
    const wide = await page(sandbox, "Wide");
    await wide.waitForData("framed", "true");
    const size = async (tab: Tab) => [await tab.data("cols"), await tab.data("rows")];
    expect(await size(wide)).toEqual(await size(small));
    const smallSize = await size(small);
    await small.page.getByRole("button", { name: "Give the keyboard to Wide" }).click();
    await wide.waitForData("framed", "false");
    await until("the other frame", async () => (await small.data("framed")) === "true");
    expect(await size(small)).toEqual(await size(wide));
    expect(await size(small)).not.toEqual(smallSize);
  });
});

describe("a viewer", () => {
  test("reads, and what it types, resizes or signals reaches nobody", async () => {
    const sandbox = fresh("viewer");
    const ann = await page(sandbox, "Ann");
    await ann.shell();
    const size = [await ann.data("cols"), await ann.data("rows")];
    const profile = await browser.member({ viewport: { width: 500, height: 360 } });
    const cleo = await page(sandbox, "Cleo", "&role=viewer", profile);
    await keyboardSays(cleo, "You are a viewer");
    await cleo.type("exit");
    await cleo.page.keyboard.press("Control+C");
    await tells(cleo, "Read only: You are a viewer");
    const cli = await commandLine(sandbox, "Dan", "--role viewer");
    cli.type("exit", "Enter");
    await cli.shows(/^sbx-stdio: read only: You are a viewer \(Ctrl\+\] ends\)$/);
    await ann.run("echo still here");
    await cleo.shows("still here");
    await cli.shows(/^still here$/);
    expect([await ann.data("cols"), await ann.data("rows")]).toEqual(size);
    expect((await ann.lines()).filter((line) => line.includes("exit"))).toEqual([]);
  });
});

describe("a link", () => {
  /** Makes a link in the dialog. */
  async function share(
    tab: Tab,
    choose: (dialog: ReturnType<Tab["page"]["getByRole"]>) => Promise<void>,
  ): Promise<string> {
    await tab.button("Share");
    const dialog = tab.page.getByRole("dialog");
    await choose(dialog);
    await dialog.getByRole("button", { name: "Make a link" }).click();
    const url = await dialog.getByLabel(/^The link/).inputValue();
    await tab.page.keyboard.press("Escape");
    return url.replace("/?", "/?debug=1&renderer=dom&");
  }

  test("leads a guest in a fresh browser to the session, to look on, until it is revoked", async () => {
    const sandbox = fresh("guest");
    const ann = await page(sandbox, "Ann");
    await ann.shell();
    const url = await share(ann, (dialog) => dialog.getByLabel("without logging in").check());
    const guest = await browser.open(await browser.profile(), url);
    await guest.state("attached");
    expect(guest.page.url()).not.toContain("#");
    expect(guest.page.url()).not.toContain("s.");
    await tells(ann, "joined as a viewer");
    await keyboardSays(guest, "You are a viewer");
    await guest.type("no");
    await ann.run("echo for the guest");
    await guest.shows("for the guest");
    await guest.page.reload();
    await guest.state("attached");

    await ann.button("Share");
    await ann.page
      .getByRole("dialog")
      .getByRole("button", { name: /^Revoke/ })
      .click();
    await guest.page.getByRole("alert").getByText("The link does not count any more").waitFor();
    await guest.page.reload();
    await guest.page.getByRole("alert").getByText("The link does not count any more").waitFor();
    await tells(ann, "left");
  });

  test("asks a stranger to log in first, and lets a person of another tenant type", async () => {
    const sandbox = fresh("member");
    const ann = await page(sandbox, "Ann");
    await ann.shell();
    const url = await share(ann, (dialog) => dialog.getByLabel("type").check());
    const eve = await browser.open(await browser.profile(), url);
    await eve.page.getByRole("alert").getByRole("button", { name: "Log in" }).click();
    await eve.page.getByLabel("User name").fill("eve");
    await eve.page.getByLabel("Organisation").fill("elsewhere");
    await eve.page.getByRole("button", { name: "Sign in" }).click();
    await eve.state("attached");
    expect(eve.page.url()).not.toContain("#");
    await tells(ann, "Eve joined");
    await eve.run("echo typed by eve");
    await ann.shows("typed by eve");
    expect(await eve.page.getByRole("button", { name: "Share" }).count()).toBe(0);
  });

  test("made on the command line leads the command line there, and is taken back there", async () => {
    const sandbox = fresh("cli-link");
    const ann = await page(sandbox, "Ann");
    await ann.shell();
    const cli = await commandLine(sandbox, "Cli");
    cli.type("", "C-]");
    await cli.endsWith(/^local\$$/);
    const where = `${system.origin} --sandbox ${sandbox} --session main`;
    const sbx = `${process.execPath} ${CLI}`;
    cli.type(`clear; LINK=$(${sbx} share ${where} --role driver --guests --seconds 600)`, "Enter");
    await cli.endsWith(/^local\$$/);
    cli.type(`clear; SBX_TOKEN= ${sbx} attach "$LINK" --name Guest`, "Enter");
    await tells(ann, "Guest joined");
    cli.type("echo typed by guest", "Enter");
    await ann.shows("typed by guest");
    const other = await commandLine(sandbox, "Other");
    other.type("", "C-]");
    await other.endsWith(/^local\$$/);
    other.type(
      `clear; ID=$(${sbx} tickets ${where} | awk 'NR==2 {print $1}'); ${sbx} revoke ${system.origin} $ID --sandbox ${sandbox} --session main; echo "code=$?."`,
      "Enter",
    );
    await other.shows(/^code=0\.$/);
    await cli.shows(/^sbx-stdio: the ticket was revoked/);
    await tells(ann, "Guest left");
  });
});
