// A day on two devices: a person at a desk, on a phone, and at the desk again, four others beside, a cut, a program that asks, a container
// that dies. Each line that is typed runs once, and is on every page once.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { api, fresh, killBridge, person, startBridge } from "../../e2e/support/system/system.ts";
import { directoryOf, setUpBrowser } from "../support/fixture.ts";
import { addressOf, keyboardSays, tells, whoIsHere } from "../support/party.ts";
import type { Tab } from "../support/tab.ts";

const browser = setUpBrowser();
const ROUNDS = Number(process.env.DAY_ROUNDS ?? 5);
const DESK = { viewport: { width: 1280, height: 800 } };
const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };

/** Writes its words down and shows them. */
const SAY = 'clear; say() { echo "$*" >> said; echo "said: $*"; }';

/** What was said, in order, and the pages that are to show it. */
class Day {
  /** What a file has of it, since the morning. */
  readonly said: string[] = [];
  /** What the pages are to show: since the shell began. */
  shown: string[] = [];
  readonly pages = new Map<string, Tab>();
  /** Lines that were typed on a page, and lines that were looked for on pages. */
  readonly counts = { typed: 0, seen: 0, lost: 0, doubled: 0 };

  note(words: string): void {
    this.said.push(words);
    this.shown.push(words);
  }

  /** Types a line on a page, as `type` does it, and waits until it has run. */
  async say(
    name: string,
    type: (tab: Tab, text: string) => Promise<void> = (tab, text) => tab.type(text),
  ): Promise<void> {
    const tab = this.page(name);
    this.counts.typed += 1;
    const words = `${name} ${this.counts.typed}`;
    await type(tab, `say ${words}`);
    await tab.page.keyboard.press("Enter");
    this.note(words);
    await tab.find(new RegExp(`^said: ${words}$`));
  }

  page(name: string): Tab {
    const tab = this.pages.get(name);
    if (tab === undefined) throw new Error(`${name} is not here`);
    return tab;
  }

  /** Waits until each page has the last line, then counts what each has too little or too often. */
  async look(): Promise<void> {
    for (const [name, tab] of this.pages) {
      const last = this.shown.at(-1) ?? "";
      await tab.find(new RegExp(`^said: ${last}$`));
      const lines = (await tab.lines()).filter((line) => line.startsWith("said: ")).map((line) => line.slice(6));
      this.#count(lines, this.shown);
      expect(lines, name).toEqual(this.shown);
    }
  }

  /** What has run. */
  expectRun(file: string): void {
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    this.#count(lines, this.said);
    expect(lines).toEqual(this.said);
  }

  #count(lines: readonly string[], wanted: readonly string[]): void {
    const distinct = new Set(lines);
    this.counts.seen += lines.length;
    this.counts.lost += wanted.filter((line) => !distinct.has(line)).length;
    this.counts.doubled += lines.length - distinct.size;
  }
}

/** As a touch keyboard writes: without keys. */
const byThumb = async (tab: Tab, text: string) => {
  await tab.page.locator(".sbx-stage").tap();
  await tab.page.keyboard.insertText(text);
};

/** Logs in at the local issuer as somebody. */
async function signIn({ page }: Tab, name: string, org: string): Promise<void> {
  await page.getByLabel("User name").fill(name);
  await page.getByLabel("Organisation").fill(org);
  await page.getByRole("button", { name: "Log in" }).click();
}

/** Makes a link to type by, for this circle of people. */
async function linkFor(tab: Tab, who: string): Promise<string> {
  await tab.button("Share");
  const dialog = tab.page.getByRole("dialog");
  await dialog.getByLabel("Who may use the link").selectOption(who);
  await dialog.getByLabel("What they may do").selectOption("type");
  await dialog.getByRole("button", { name: "Copy link" }).click();
  const url = await dialog.getByLabel(/^Link, valid/).inputValue();
  await tab.page.keyboard.press("Escape");
  return url.replace("/?", "/?debug=1&renderer=dom&");
}

/** A colleague's own login. */
async function colleague(sandbox: string, name: string, more = ""): Promise<Tab> {
  const tab = await browser.open(await browser.profile(DESK), addressOf(sandbox, name, more));
  await tab.page.getByRole("link", { name: "Log in" }).click();
  await signIn(tab, name.toLowerCase(), "local");
  await tab.state("attached");
  return tab;
}

test("a day on two devices: each line is run once and shown once, whatever happens", async () => {
  const sandbox = fresh("day");
  const day = new Day();
  const address = addressOf(sandbox, "Ann");
  const agent = await person({ sub: fresh("agent"), org: "local", name: "Agent" });
  const call = async (route: string, body: object) => {
    const path = `/api/sandboxes/${sandbox}/sessions/main/${route}`;
    const response = await api(agent, path, { method: "POST", body: JSON.stringify(body) });
    return (await response.json()) as Record<string, unknown>;
  };
  const begin = async (name: string) => {
    await day.page(name).shell();
    await day.page(name).run(SAY);
    await day.say(name);
  };
  const round = async (...names: string[]) => {
    for (let i = 0; i < ROUNDS; i += 1) for (const name of names) await day.say(name);
    await day.look();
  };

  // Morning, at the desk: four others come, each in a way of their own.
  const desk = await browser.open(await browser.member(DESK), address);
  day.pages.set("Ann", desk);
  await begin("Ann");
  day.pages.set("Bob", await colleague(sandbox, "Bob"));
  day.pages.set("Cleo", await colleague(sandbox, "Cleo", "&role=viewer"));
  day.pages.set("Dan", await browser.open(await browser.profile(DESK), await linkFor(desk, "with the link")));
  const eve = await browser.open(await browser.profile(DESK), await linkFor(desk, "who logs in"));
  await eve.page.getByRole("alert").getByRole("button", { name: "Log in" }).click();
  await signIn(eve, "eve", "elsewhere");
  day.pages.set("Eve", eve);
  for (const tab of day.pages.values()) await tab.state("attached");
  await expect.poll(async () => (await whoIsHere(desk)).length).toBe(5);
  await round("Ann", "Bob", "Dan", "Eve");
  await day.page("Cleo").button("Ask to type");
  await desk.button("Give it");
  await keyboardSays(day.page("Cleo"), "You have the keyboard");
  await round("Cleo");
  await desk.page.keyboard.press("F2");
  await keyboardSays(day.page("Cleo"), "You are a viewer");

  // The network goes while a program prints, and somebody types.
  await desk.run("for i in $(seq 200); do say $i of 200; [ $i = 20 ] && until [ -e cut ]; do sleep 0.01; done; done");
  for (let i = 1; i <= 200; i += 1) day.note(`${i} of 200`);
  await desk.find(/^said: 20 of 200$/);
  browser.link.cut();
  for (const tab of day.pages.values()) await tab.state("waiting");
  writeFileSync(join(directoryOf(sandbox), "cut"), "");
  await day.page("Bob").type("say nothing");
  await day.page("Bob").page.getByText("11 keys typed while disconnected: not sent").waitFor();
  browser.link.mend();
  for (const tab of day.pages.values()) await tab.state("attached");
  await day.look();
  await round("Bob", "Ann");

  // Noon, on the phone: the desk's page stays open, the train goes through a tunnel, and the browser forgets the page.
  const phone = await browser.open(await browser.member(PHONE), address);
  day.pages.set("Phone", phone);
  await phone.state("attached");
  await desk.waitForData("framed", "true");
  for (let i = 0; i < ROUNDS; i += 1) await day.say("Phone", byThumb);
  await phone.page.context().setOffline(true);
  await phone.says("Offline: reconnects when the network is back");
  await day.say("Bob");
  await phone.page.context().setOffline(false);
  await phone.state("attached");
  await day.say("Phone", byThumb);
  await phone.page.reload();
  await phone.state("attached");
  await day.say("Phone", byThumb);
  await day.look();

  // A program works there, and asks for a secret, which the phone answers.
  await call("input", { text: "say the agent works; read -rs P; say secret of $(printf %s $P | wc -c)", enter: true });
  const asked = await call("keyboard", { do: "ask", reason: "The passphrase", secret: true });
  const answered = call("wait", { until: { ask: asked.ask }, timeoutMs: 60_000 });
  const notice = phone.page.getByRole("region", { name: /asks for you: The passphrase$/ });
  await notice.getByRole("button", { name: "Take the keyboard" }).tap();
  await keyboardSays(phone, "You have the keyboard");
  await byThumb(phone, "geheim");
  await phone.page.keyboard.press("Enter");
  day.note("the agent works");
  day.note("secret of 6");
  await phone.find(/^said: secret of 6$/);
  await notice.getByRole("button", { name: "Done, give back" }).tap();
  expect(await answered).toMatchObject({ outcome: "met", answer: "done" });
  await call("input", { text: "say the agent goes on", enter: true });
  day.note("the agent goes on");
  await day.look();
  await round("Bob", "Eve");
  for (const tab of day.pages.values()) expect((await tab.lines()).join("\n")).not.toContain("geheim");

  // Afternoon: the container dies, with the shell in it. All are told; one begins again.
  await killBridge();
  await startBridge();
  for (const tab of day.pages.values()) await tab.state("refused");
  day.shown = [];
  for (const name of ["Ann", "Bob", "Cleo", "Phone"]) {
    const tab = day.page(name);
    await tab.button("Start again");
    await tab.state("attached");
    if (name === "Ann") await begin(name);
  }
  // A link is valid for one process.
  await day.page("Dan").page.goto(await linkFor(desk, "with the link"));
  await eve.page.goto(await linkFor(desk, "who logs in"));
  for (const tab of day.pages.values()) await tab.state("attached");
  for (let i = 0; i < ROUNDS; i += 1) await day.say("Phone", byThumb);
  await round("Bob", "Dan", "Eve");

  // Evening, at the desk again.
  await desk.waitForData("framed", "true");
  await desk.button("Use my size");
  await desk.waitForData("framed", "false");
  await phone.waitForData("framed", "true");
  await round("Ann", "Bob");
  await phone.page.close();
  day.pages.delete("Phone");
  await tells(desk, "You closed another window");
  await round("Ann", "Dan");
  day.expectRun(join(directoryOf(sandbox), "said"));
  await desk.run("exit");
  for (const tab of day.pages.values()) await tab.says("Process exited with code 0");
  const { typed, seen, lost, doubled } = day.counts;
  console.log(
    `${typed} lines typed by hand, ${day.said.length} run, ${seen} looked for: ${lost} lost, ${doubled} doubled`,
  );
});
