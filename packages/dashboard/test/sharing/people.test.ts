// Who is here and who types, seen on several pages on one session, in a real browser.

import { describe, expect, test } from "vitest";
import type { TerminalPage } from "../browser.ts";
import { MAIN, useBrowser } from "../fixture.ts";

const browser = useBrowser();

const as = (name: string, more = "") => `${MAIN}&name=${name}${more}`;

/** What the people bar says of who is here, in order. */
async function whoIsHere(page: TerminalPage): Promise<string[]> {
  return page.page.locator(".sbx-person > .sbx-unseen").allTextContents();
}

async function keyboardSays(page: TerminalPage, words: string): Promise<void> {
  await page.page.locator(".sbx-field-words").filter({ hasText: words }).waitFor({ state: "attached" });
}

/** Waits until a screen reader has been told this. */
async function tells(page: TerminalPage, words: string): Promise<void> {
  await page.page.locator(".sbx-people [aria-live]").filter({ hasText: words }).waitFor({ state: "attached" });
}

describe("who is here", () => {
  test("is named, in a colour that is the same on every page, and said as people come and go", async () => {
    const ann = await browser.attached(as("Ann"));
    const size = async () => [await ann.data("cols"), await ann.data("rows")];
    const alone = await size();
    const bob = await browser.attached(as("Bob"));
    await tells(ann, "Bob joined");
    expect(await whoIsHere(ann)).toEqual(["Ann, you", "Bob"]);
    expect(await whoIsHere(bob)).toEqual(["Ann", "Bob, you"]);
    const colours = (page: TerminalPage) =>
      page.page.locator(".sbx-face").evaluateAll((all) => all.map((face) => getComputedStyle(face).backgroundColor));
    expect(await colours(ann)).toEqual(await colours(bob));
    await keyboardSays(ann, "Everyone may type");
    const cleo = await browser.attached(as("Cleo", "&role=viewer"));
    await tells(ann, "Cleo joined as a viewer");
    await cleo.logOut();
    await tells(ann, "Cleo left");
    expect(await ann.data("people")).toBe("2");
    // The terminal has the size that it had.
    expect(await size()).toEqual(alone);
  });

  test("D7: a name is whole to the keyboard, a press, and a screen reader", async () => {
    const name = "Wilhelmina-Wintergarten-von-Wolkenstein";
    const ann = await browser.attached(as("Ann"));
    await browser.attached(as(name));
    await ann.waitForData("people", 2);
    expect(await whoIsHere(ann)).toEqual(["Ann, you", name]);
    const cut = ann.page.getByRole("button", { name: `Full name: ${name}` });
    const isWhole = () => cut.getByText(name).isVisible();
    expect([await cut.getAttribute("title"), await isWhole()]).toEqual([name, false]);
    await cut.click();
    expect([await cut.getAttribute("aria-expanded"), await isWhole()]).toEqual(["true", true]);
    await cut.click();
    await ann.page.locator(".xterm-helper-textarea").focus();
    await expect.poll(isWhole).toBe(false);
    await ann.page.locator(".xterm-helper-textarea").blur();
    for (let i = 0; i < 20 && !(await cut.evaluate((element) => element === document.activeElement)); i += 1)
      await ann.page.keyboard.press("Tab");
    expect(await isWhole()).toBe(true);
  });
});

describe("the keyboard of an exclusive session", () => {
  async function two(): Promise<[TerminalPage, TerminalPage]> {
    browser.server.mode = "exclusive";
    const ann = await browser.attached(as("Ann"));
    const bob = await browser.attached(as("Bob"));
    await ann.waitForData("people", 2);
    return [ann, bob];
  }

  test("is the first driver's, who is asked for it, gives it, and takes it up again; another's keys go nowhere", async () => {
    const [ann, bob] = await two();
    await keyboardSays(ann, "You have the keyboard");
    await keyboardSays(bob, "Ann has the keyboard");
    expect([await ann.data("read-only"), await bob.data("read-only")]).toEqual(["false", "true"]);
    expect(await bob.page.locator(".xterm-helper-textarea").getAttribute("aria-readonly")).toBe("true");
    await bob.type("rm -rf /");
    await tells(bob, "Read only: Ann has the keyboard");
    await bob.button("Ask");
    await tells(bob, "You have asked Ann for the keyboard");
    await tells(ann, "Bob asks for the keyboard");
    await ann.button("Give it");
    await keyboardSays(bob, "You have the keyboard");
    await keyboardSays(ann, "Bob has the keyboard");
    expect(await whoIsHere(ann)).toEqual(["Ann, you", "Bob, has the keyboard"]);
    await bob.type("b");
    await bob.button("Release");
    await Promise.all([ann, bob].map((page) => keyboardSays(page, "The keyboard is free")));
    await bob.type("x");
    await tells(bob, "Read only: The keyboard is free");
    await ann.button("Take it");
    await tells(ann, "You have the keyboard");
    // The button has gone, and the terminal has the focus.
    await ann.page.keyboard.type("a");
    await expect.poll(() => browser.server.process("main").typed).toBe("ba");
    // A request can be left unanswered, is shown again when it is made again, and goes with who made it.
    const request = ann.page.getByRole("region", { name: "Bob asks for the keyboard" });
    await bob.button("Ask");
    await request.waitFor();
    // For five seconds.
    const declined = keyboardSays(bob, "Ann: not now");
    await Promise.all([declined, ann.button("Not now")]);
    await request.waitFor({ state: "detached" });
    await bob.button("Ask");
    await keyboardSays(bob, "Asked Ann: waiting");
    await request.waitFor();
    await bob.logOut();
    await request.waitFor({ state: "detached" });
    await keyboardSays(ann, "You have the keyboard");
  });

  test("is given to a driver without being asked for, taken by an administrator, and only asked for by a viewer", async () => {
    const [ann, bob] = await two();
    const viewer = await browser.attached(as("Cleo", "&role=viewer"));
    await keyboardSays(viewer, "You are a viewer; Ann types");
    expect(await viewer.page.locator(".sbx-keyboard button").allTextContents()).toEqual(["Ask to type"]);
    await viewer.type("no");
    await tells(viewer, "Read only: You are a viewer; Ann types");
    await ann.waitForData("people", 3);
    expect(await ann.page.getByRole("button", { name: /^Give the keyboard to/ }).count()).toBe(1);
    await ann.page.getByRole("button", { name: "Give the keyboard to Bob" }).click();
    await keyboardSays(bob, "You have the keyboard");
    expect(await ann.page.getByRole("button", { name: "Take over" }).count()).toBe(0);
    browser.server.scopes = ["sandbox:admin", "sandbox:connect", "sandbox:exec"];
    const admin = await browser.attached(as("Root"));
    await admin.button("Take over");
    await keyboardSays(admin, "You have the keyboard");
    await keyboardSays(bob, "Root has the keyboard");
    await admin.type("yes");
    await expect.poll(() => browser.server.process("main").typed).toBe("yes");
  });

  test("K15: a viewer sees whom it has asked, and that the answer is no, until it may ask again", async () => {
    const ann = await browser.attached(as("Ann"));
    const cleo = await browser.attached(as("Cleo", "&role=viewer"));
    await ann.waitForData("people", 2);
    await cleo.button("Ask to type");
    await keyboardSays(cleo, "Asked Ann: waiting");
    const declined = [keyboardSays(cleo, "Ann: not now"), tells(cleo, "Ann: not now")];
    await Promise.all([...declined, ann.button("Not now")]);
    expect(await cleo.page.locator(".sbx-keyboard button").allTextContents()).toEqual(["Ask to type"]);
    await keyboardSays(cleo, "You are a viewer");
    await keyboardSays(ann, "Everyone may type");
    // If two may type, one does not answer for the other.
    const bob = await browser.attached(as("Bob"));
    await cleo.button("Ask to type");
    await keyboardSays(cleo, "Asked everybody who types: waiting");
    await ann.button("Not now");
    await bob.button("Give it");
    await keyboardSays(cleo, "You have the keyboard");
  });

  test("is reached, handed over and left again with keys alone", async () => {
    const [ann, bob] = await two();
    await bob.page.locator(".xterm-helper-textarea").focus();
    await bob.page.keyboard.press("Control+F6");
    expect(await bob.page.evaluate(() => document.activeElement?.textContent)).toBe("Ask");
    await bob.page.keyboard.press("Enter");
    await ann.page.getByRole("region", { name: "Bob asks for the keyboard" }).waitFor();
    await bob.page.keyboard.press("Escape");
    const focused = () => bob.page.evaluate(() => document.activeElement?.className);
    expect(await focused()).toBe("xterm-helper-textarea");
  });
});

describe("nothing can be typed", () => {
  test("once the process has exited, and while the connection is down: the field says so", async () => {
    const page = await browser.attached();
    browser.server.isReachable = false;
    browser.server.cut();
    await keyboardSays(page, "Reconnecting…");
    browser.server.isReachable = true;
    await keyboardSays(page, "Everyone may type");
    browser.server.process("main").exit({ code: 0 });
    await keyboardSays(page, "The process has exited");
    expect(await page.data("read-only")).toBe("true");
  });
});
