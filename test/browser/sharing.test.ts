// Several people on one session, over the running system: two pages and a command line, and what each of them sees.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { fresh } from "../e2e/support/system/system.ts";
import { keyboardSays, setUpParty, tells, whoIsHere } from "./support/party.ts";
import { PROMPT, type Tab } from "./support/tab.ts";

const { browser, page, first, commandLine } = setUpParty();

/** The program that a terminal's shell has started. */
function childOf(shell: number): number {
  const children = readFileSync(`/proc/${shell}/task/${shell}/children`, "utf8").trim().split(" ").map(Number);
  if (children.length !== 1 || children[0] === undefined) throw new Error(`Cannot tell which of ${children} it is`);
  return children[0];
}

const sizeOf = async (tab: Tab) => [await tab.data("cols"), await tab.data("rows")];
const framed = async (tab: Tab) => [await sizeOf(tab), await tab.data("framed")];

const colours = (tab: Tab) =>
  tab.page.locator(".sbx-face").evaluateAll((all) => all.map((face) => getComputedStyle(face).backgroundColor));

test("L11b: pages and a command line see people come and go in the same colours, one with two windows once", async () => {
  const sandbox = fresh("people");
  const desk = await first(sandbox, "Ann");
  const bob = await page(sandbox, "Bob", "", await browser.freshMember());
  await tells(desk, "Bob joined");
  const cli = await commandLine(sandbox, "Cli", "--status");
  await cli.shows(/^sbx-stdio: 3 here: Ann, Bob, Cli \(you\); everyone but viewers may type; connected$/);
  for (const one of [desk, bob]) await tells(one, "Cli joined");
  expect(await whoIsHere(desk)).toEqual(["Ann, you", "Bob", "Cli"]);
  expect(await whoIsHere(bob)).toEqual(["Ann", "Bob, you", "Cli"]);
  await keyboardSays(bob, "Everyone may type");
  expect(await colours(desk)).toEqual(await colours(bob));

  await desk.run("echo one by ann");
  await bob.shows("one by ann");
  await cli.shows(/^one by ann$/);
  cli.type("echo two by cli", "Enter");
  await desk.shows("two by cli");
  cli.type("", "C-]");
  await tells(desk, "Cli left");

  const two = await colours(desk);
  const phone = await page(sandbox, "Ann");
  await tells(bob, "Ann opened another window");
  await tells(desk, "You opened another window");
  expect(await whoIsHere(desk)).toEqual(["Ann, you, 2 windows", "Bob"]);
  expect(await whoIsHere(phone)).toEqual(["Ann, you, 2 windows", "Bob"]);
  expect(await whoIsHere(bob)).toEqual(["Ann, 2 windows", "Bob, you"]);
  expect(await Promise.all([desk, phone, bob].map(colours))).toEqual([two, two, two]);
  // The first window goes, and the person stays under the same name.
  await desk.page.close();
  await tells(bob, "Ann closed a window");
  // Her oldest window is younger than Bob's now.
  expect(await whoIsHere(bob)).toEqual(["Bob, you", "Ann"]);
  expect(await colours(bob)).toEqual(two.toReversed());
  await bob.logOut();
  await tells(phone, "Bob left");
  expect(await whoIsHere(phone)).toEqual(["Ann, you"]);
});

test("an exclusive session has one hand on its keyboard: asked for, given from page to page to command line, taken", async () => {
  const sandbox = fresh("hand");
  const ann = await first(sandbox, "Ann", "&mode=exclusive");
  const bob = await page(sandbox, "Bob", "", await browser.freshMember());
  await keyboardSays(bob, "Ann has the keyboard");
  await bob.type("x");
  await tells(bob, "Read only: Ann has the keyboard");

  // L11b: another window of who has it is told so, and not by a name. For others it is the same person's.
  const phone = await page(sandbox, "Ann");
  await keyboardSays(phone, "You have the keyboard in another window");
  await phone.button("Ask");
  await tells(ann, "Your other window asks for the keyboard");
  await ann.button("Give it");
  await keyboardSays(phone, "You have the keyboard");
  await keyboardSays(ann, "You have the keyboard in another window");
  await keyboardSays(bob, "Ann has the keyboard");

  await bob.button("Ask");
  await tells(phone, "Bob asks for the keyboard");
  await phone.button("Give it");
  await tells(bob, "You have the keyboard");
  await keyboardSays(ann, "Bob has the keyboard");
  await phone.page.close();
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
  await Promise.all([ann, bob].map((each) => each.shows("typed by ann")));
  // Its holder leaves.
  await ann.page.getByRole("button", { name: "Give the keyboard to Bob" }).click();
  await keyboardSays(bob, "You have the keyboard");
  await bob.logOut();
  await keyboardSays(ann, "The keyboard is free");
  await ann.prompt();
  // What was typed in vain never came.
  const lines = await ann.lines();
  expect(lines.filter((line) => line.startsWith(PROMPT))).toEqual([
    `${PROMPT} echo typed by bob`,
    `${PROMPT} echo typed by cli`,
    `${PROMPT} echo typed by ann`,
    PROMPT,
  ]);

  // Who made the session takes it at once from a holder that has vanished, and not from one that is there.
  await ann.button("Take it");
  await ann.page.getByRole("button", { name: "Give the keyboard to Cli" }).click();
  await keyboardSays(ann, "Cli has the keyboard");
  await ann.button("Ask");
  await ann.button("Take over");
  await ann.page.getByText(/^Refused: /).waitFor();
  await keyboardSays(ann, "Asked Cli: waiting");
  process.kill(childOf(Number(cli.value("#{pane_pid}"))), "SIGKILL");
  await expect
    .poll(async () => {
      // It is refused until the server knows that the holder is gone, and is no longer there once it was taken.
      const take = ann.page.getByRole("button", { name: "Take over" });
      if ((await ann.data("keyboard")) !== "yours") await take.click({ timeout: 1_000 }).catch(() => undefined);
      return ann.data("keyboard");
    })
    .toBe("yours");
  await ann.run("echo mine");
  await ann.shows("mine");
});

test("K4a: a session has the size of the smallest person's window, and of a person's windows that of the one in use", async () => {
  const sandbox = fresh("sizes");
  const desk = await first(sandbox, "Ann");
  const whole = await sizeOf(desk);
  const narrow = await browser.freshMember({ viewport: { width: 560, height: 400 } }, "bob");
  const bob = await page(sandbox, "Small", "", narrow);
  await desk.waitForData("framed", "true");
  const narrowest = await sizeOf(desk);
  expect(narrowest).not.toEqual(whole);
  await expect.poll(() => framed(bob)).toEqual([narrowest, "false"]);
  await desk.page.locator(".sbx-size").filter({ hasText: " by Small" }).waitFor();
  await desk.run("clear; stty size");
  await bob.shows(narrowest.toReversed().join(" "));
  expect(await framed(desk)).toEqual([narrowest, "true"]);
  await bob.logOut();
  await expect.poll(() => framed(desk)).toEqual([whole, "false"]);

  const options = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };
  const phone = await page(sandbox, "Ann", "", await browser.member(options));
  const use = ({ page }: Tab) => page.getByRole("button", { name: "Use my size" });
  await desk.waitForData("framed", "true");
  const small = await sizeOf(desk);
  await expect.poll(() => framed(phone)).toEqual([small, "false"]);
  expect(await use(phone).count()).toBe(0);
  await use(desk).click();
  await phone.waitForData("framed", "true");
  await expect.poll(() => framed(desk)).toEqual([whole, "false"]);
  expect(await use(desk).count()).toBe(0);
  // The next key is the terminal's.
  await desk.page.keyboard.type("stty size\n");
  await phone.shows([...whole].reverse().join(" "));
  await use(phone).tap();
  await desk.waitForData("framed", "true");
  await expect.poll(() => framed(phone)).toEqual([small, "false"]);
});

test("K15: what a viewer types, resizes or signals reaches nobody, until somebody gives it the keyboard; then it types alone", async () => {
  const sandbox = fresh("viewer");
  const ann = await first(sandbox, "Ann");
  const size = await sizeOf(ann);
  const profile = await browser.member({ viewport: { width: 500, height: 360 } });
  const cleo = await page(sandbox, "Cleo", "&role=viewer", profile);
  await keyboardSays(cleo, "You are a viewer");
  await cleo.type("exit");
  await cleo.page.keyboard.press("Control+C");
  await tells(cleo, "Read only: You are a viewer");
  const cli = await commandLine(sandbox, "Dan", "--role viewer");
  cli.type("exit", "Enter");
  await cli.shows(/^sbx-stdio: read only: You are a viewer \(Ctrl\+\] detaches\)$/);
  await ann.run("echo still here");
  await cleo.shows("still here");
  await cli.shows(/^still here$/);
  expect(await sizeOf(ann)).toEqual(size);

  await cleo.button("Ask to type");
  await tells(ann, "Cleo asks for the keyboard");
  await ann.button("Give it");
  await tells(cleo, "You have the keyboard");
  await keyboardSays(ann, "Cleo has the keyboard");
  await ann.type("x");
  await tells(ann, "Read only: Cleo has the keyboard");
  await cleo.run("echo typed by cleo");
  await ann.shows("typed by cleo");
  await ann.button("Take it (F2)");
  await keyboardSays(cleo, "You are a viewer");
  await cleo.type("exit");
  await tells(cleo, "Read only: You are a viewer");
  await ann.run("echo typed by ann");
  for (const one of [ann, cleo]) await one.shows("typed by ann");
  expect((await ann.lines()).filter((line) => line.startsWith(`${PROMPT} `))).toEqual([
    `${PROMPT} echo still here`,
    `${PROMPT} echo typed by cleo`,
    `${PROMPT} echo typed by ann`,
  ]);
});
