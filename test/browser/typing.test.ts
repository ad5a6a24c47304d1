// Hours of work in short: a person types all the time, while connections are cut, the page is loaded anew, and logins run out.
// What the shell's program reads is what was typed, less what the page said it discarded. `TYPING_SECONDS=600` is the whole,
// `TYPING_BROWSER=firefox` another browser.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Request } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Random } from "../../packages/local/src/base/random.ts";
import { fresh, setTokenSeconds } from "../e2e/support/system/system.ts";
import { until } from "../e2e/support/system/wait.ts";
import { launchFirefox } from "./support/firefox.ts";
import { directoryOf, setUpBrowser } from "./support/fixture.ts";
import type { Tab } from "./support/tab.ts";

const SECONDS = Number(process.env.TYPING_SECONDS ?? 10);
const SEED = Number(process.env.TYPING_SEED ?? 1);
/** Less than the minute before its end at which a page is told of it; a busy machine needs seconds for a renewal. */
const TOKEN_SECONDS = SECONDS < 120 ? 30 : 60;

const browser = setUpBrowser(process.env.TYPING_BROWSER === "firefox" ? launchFirefox : undefined);
beforeAll(() => setTokenSeconds(TOKEN_SECONDS));
afterAll(() => setTokenSeconds(3600));

/** In which twelfth of the time something happens. */
const EVENTS: Readonly<Record<number, "cut" | "reload">> = {
  1: "cut",
  3: "cut",
  4: "reload",
  5: "cut",
  8: "cut",
  9: "reload",
  10: "cut",
};

const RENEWAL = "/api/me/renew";

/** Keeps renewals and breaks apart: a refresh token counts once, so that a renewal whose answer is lost costs the login. */
async function betweenRenewals({ page }: Tab): Promise<{ begin(): Promise<void>; end(): void }> {
  let isBroken = false;
  const underWay = new Set<Request>();
  await page.route(`**${RENEWAL}`, async (route, request) => {
    // The page tries again.
    if (isBroken) return route.abort("connectionreset");
    underWay.add(request);
    await route.continue();
  });
  // The page does not read the answer's body: the request never finishes.
  page.on("response", (response) => void underWay.delete(response.request()));
  page.on("requestfailed", (request) => void underWay.delete(request));
  return {
    begin: async () => {
      isBroken = true;
      await until("the answer to a renewal", () => underWay.size === 0);
    },
    end: () => {
      isBroken = false;
    },
  };
}

/** What the page has said, over all its loads. */
type Said = { unsent: number; readonly states: Set<string> };

/** Reads on the page, as it is drawn, how many keys were not sent, and each state it is in. */
async function listen(tab: Tab): Promise<Said> {
  const said: Said = { unsent: 0, states: new Set() };
  await tab.page.exposeFunction("sbxSaid", (more: number, state: string) => {
    said.unsent += more;
    said.states.add(state);
  });
  await tab.page.addInitScript(() => {
    let before = 0;
    const observer = new MutationObserver(() => {
      const { unsentKeys = "0", state = "" } = document.querySelector<HTMLElement>(".sbx-terminal")?.dataset ?? {};
      const now = Number(unsentKeys);
      // The count starts again with the first key that is sent.
      Reflect.get(window, "sbxSaid")(now >= before ? now - before : now, state);
      before = now;
    });
    observer.observe(document, { subtree: true, childList: true, attributeFilter: ["data-unsent-keys", "data-state"] });
    // Nobody reads what a page says while it goes.
    window.addEventListener("pagehide", () => observer.disconnect());
  });
  return said;
}

test(`${SECONDS} s of typing with five cuts, two reloads and tokens of ${TOKEN_SECONDS} s: the shell gets it, less what was said`, {
  timeout: SECONDS * 1000 + 300_000,
}, async () => {
  const random = new Random(SEED, "typing");
  const profile = await browser.freshMember();
  const sandbox = fresh("typing");
  const tab = await browser.open(profile, "/?session=nothing&sandbox=typing");
  const said = await listen(tab);
  const breaks = await betweenRenewals(tab);
  let renewals = 0;
  tab.page.on("response", (response) => {
    if (response.url().endsWith(RENEWAL) && response.ok()) renewals += 1;
  });
  await tab.page.goto(new URL(`/?sandbox=${sandbox}&session=main&debug=1&renderer=dom`, tab.page.url()).href);
  await tab.shell();
  const file = join(directoryOf(sandbox), "typed");
  writeFileSync(file, "");
  await tab.run("stty raw -echo; clear; printf ready; exec cat > typed");
  await tab.shows("ready");

  let typed = "";
  const key = async () => {
    // A line is as long as a short command: what goes on with a line that lost its beginning is not sent either.
    const pressed = random.chance(0.12) ? "\r" : String.fromCharCode(97 + random.int(0, 25));
    typed += pressed;
    await tab.page.keyboard.press(pressed === "\r" ? "Enter" : pressed, { delay: random.int(5, 40) });
    // The pause of a person, which nothing waits for.
    await tab.page.waitForTimeout(random.int(5, 120));
  };
  const startMs = Date.now();
  const isBefore = (ms: number) => Date.now() < startMs + ms;
  const partMs = (SECONDS * 1000) / 12;
  const mend = () => {
    browser.link.mend();
    breaks.end();
  };
  for (let part = 0; part < 12; part += 1) {
    if (EVENTS[part] === "reload") {
      await breaks.begin();
      // A key that nobody takes is a key that nobody counts.
      await tab.page.reload();
      breaks.end();
      await tab.page.locator(".xterm-helper-textarea:focus").waitFor({ state: "attached" });
    }
    if (EVENTS[part] === "cut") {
      await breaks.begin();
      browser.link.cut();
    }
    const mendAtMs = (part + 0.4) * partMs;
    while (isBefore((part + 1) * partMs)) {
      await key();
      if (EVENTS[part] === "cut" && !isBefore(mendAtMs)) mend();
    }
    mend();
  }
  await tab.state("attached");
  const renewed = renewals;
  await until("a renewal of a login that is in use", () => renewals > renewed, SECONDS * 1000 + 120_000);
  // Ends a line that may have lost its beginning, then one that has not.
  for (const last of ["Enter", "z", "Enter"]) await tab.page.keyboard.press(last);
  typed += "\rz\r";
  const received = () => readFileSync(file, "latin1");
  await until("the last line", () => received().endsWith("z\r"));

  const got = received();
  console.log(`${typed.length} keys, ${said.unsent} not sent, ${renewals} renewals, seed ${SEED}`);
  expect(typed.length - got.length).toBe(said.unsent);
  // Nothing came that was not typed then: what came is what was typed, with some of it left out.
  let at = 0;
  const isInOrder = [...got].every((each) => {
    at = typed.indexOf(each, at) + 1;
    return at > 0;
  });
  expect(isInOrder).toBe(true);
  expect(said.unsent).toBeGreaterThan(0);
  expect([...said.states].filter((state) => ["refused", "exited", "left"].includes(state))).toEqual([]);
  expect(renewals).toBeGreaterThanOrEqual(Math.floor(SECONDS / TOKEN_SECONDS));
  // What the page asks for during a cut fails, and the browser says so.
  const ofCuts = /net::ERR_(CONNECTION_RESET|SOCKET_NOT_CONNECTED)/;
  expect(tab.problems.filter((problem) => !ofCuts.test(problem))).toEqual([]);
  tab.problems.length = 0;
});
