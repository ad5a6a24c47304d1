// Each view of the page: nothing that axe finds wrong, and everything that can be pressed can be reached by keyboard alone.
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { fresh, holdInnerHop, releaseInnerHop } from "../e2e/support/system.ts";
import { findings } from "./support/axe.ts";
import { setUpBrowser } from "./support/fixture.ts";
import { focused, forgetTabs } from "./support/panes.ts";
import type { Tab } from "./support/tab.ts";
import { pane } from "./support/tmux-panes.ts";

const browser = setUpBrowser();

afterEach(async () => {
  await releaseInnerHop();
  await forgetTabs(await browser.member());
});

declare global {
  interface Window {
    nameOf: (one: Element) => string;
  }
}

type Look = { readonly colorScheme?: "dark" | "light"; readonly viewport?: { width: number; height: number } };
const PHONE = { width: 320, height: 640 };

async function shell(look: Look, query = ""): Promise<Tab> {
  const profile = await browser.member(look);
  const tab = await browser.open(profile, `/?sandbox=${fresh("axe")}&session=main&debug=1&renderer=dom${query}`);
  await tab.shell();
  return tab;
}

const dialog = (tab: Tab) => tab.page.getByRole("dialog").waitFor();

const VIEWS: Readonly<Record<string, (look: Look) => Promise<Tab>>> = {
  "a first visit": async (look) => {
    const tab = await browser.open(await browser.profile(look), `/?sandbox=${fresh("axe")}`);
    await tab.page.getByRole("link", { name: "Log in" }).waitFor();
    return tab;
  },
  "a shell": (look) => shell(look),
  "a connection that is being made": async (look) => {
    const profile = await browser.member(look);
    await holdInnerHop();
    const tab = await browser.open(profile, `/?sandbox=${fresh("axe")}&session=main&renderer=dom`);
    await tab.says(/^Connecting/);
    return tab;
  },
  "a refusal": async (look) => {
    const profile = await browser.member(look);
    const tab = await browser.open(profile, `/?sandbox=${fresh("axe")}&session=nobody&role=viewer&renderer=dom`);
    await tab.page.getByRole("alert").waitFor();
    return tab;
  },
  "the list of sessions": async (look) => {
    const tab = await shell(look);
    await tab.page.keyboard.press("Control+Shift+P");
    await dialog(tab);
    await tab.page.getByRole("option").filter({ hasText: "main" }).first().waitFor();
    return tab;
  },
  "a list with nothing in it": async (look) => {
    const tab = await shell(look);
    await tab.page.keyboard.press("Control+Shift+P");
    await dialog(tab);
    await tab.page.keyboard.type("nothing is called that");
    await tab.page
      .getByText(/^Nothing found/)
      .first()
      .waitFor({ state: "attached" });
    return tab;
  },
  "the settings": async (look) => {
    const tab = await shell(look);
    await tab.page.keyboard.press("Control+Shift+Comma");
    await dialog(tab);
    return tab;
  },
  "a link that is made": async (look) => {
    const tab = await shell(look);
    await tab.button("Share");
    await tab.button("Make a link");
    await tab.page.getByLabel(/^The link/).waitFor();
    return tab;
  },
  "a search": async (look) => {
    const tab = await shell(look);
    await tab.page.keyboard.press("Control+Shift+F");
    await tab.page.getByRole("search").waitFor();
    return tab;
  },
  "two panes": async (look) => {
    const tab = await shell(look, "&tabs=1");
    await tab.page.keyboard.press("Control+Shift+D");
    await focused(tab, 2);
    return tab;
  },
  "panes of a session": async (look) => {
    const profile = await browser.member(look);
    const address = `/?sandbox=${fresh("axe")}&session=main&panes=1&debug=1&renderer=dom`;
    const tab = await browser.open(profile, address);
    await pane(tab, "%0").locator('.sbx-terminal[data-state="attached"]').waitFor();
    await tab.page.getByRole("button", { name: /one below$/ }).click();
    await pane(tab, "%1").locator('.sbx-terminal[data-state="attached"]').waitFor();
    return tab;
  },
  "an exit": async (look) => {
    const tab = await shell(look);
    await tab.run("exit 3");
    await tab.says("Process exited with code 3");
    return tab;
  },
  "a connection that is lost": async (look) => {
    const tab = await shell(look);
    browser.link.cut();
    await tab.says(/^Connection lost: back in/);
    return tab;
  },
  "a closed session": async (look) => {
    const tab = await shell(look);
    await tab.run("exit 4");
    await tab.says("Process exited with code 4");
    await tab.page.locator(".xterm-helper-textarea").focus();
    await tab.page.keyboard.press("Escape");
    await tab.page.getByRole("heading", { name: "Closed" }).waitFor();
    return tab;
  },
};

const LOOKS: Readonly<Record<string, Look>> = {
  dark: { colorScheme: "dark" },
  light: { colorScheme: "light" },
  "on a phone": { colorScheme: "dark", viewport: PHONE },
};

/** As docs/states.md shows it. */
const pictureOf = (view: string, look: string) =>
  fileURLToPath(
    new URL(`../../docs/states/${view.replaceAll(" ", "-")}-${look.split(" ").at(-1)}.png`, import.meta.url),
  );

describe.each(Object.entries(VIEWS))("%s", (view, show) => {
  test.each(Object.entries(LOOKS))("%s: axe finds nothing wrong", async (name, look) => {
    const tab = await show(look);
    if (process.env.SBX_SCREENSHOTS === "1")
      await tab.page.screenshot({ path: pictureOf(view, name), caret: "initial" });
    expect(await findings(tab)).toEqual([]);
    expect(await beyond(tab)).toEqual([]);
  });

  test("every control is reached by keyboard alone", async () => {
    const tab = await show({});
    const { controls, reached } = await reach(tab);
    expect([...controls].filter((one) => !reached.has(one))).toEqual([]);
  });
});

/** The controls that the window's edge cuts off. */
function beyond(tab: Tab): Promise<(string | null)[]> {
  return tab.page.evaluate(() => {
    const controls = [...document.querySelectorAll("button, a[href], select, input")];
    return controls
      .filter((one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
      .filter((one) => one.closest(".sbx-touch-keys, .sbx-tabs") === null) // Those scroll.
      .filter((one) => one.getBoundingClientRect().right > window.innerWidth + 1)
      .map((one) => one.getAttribute("aria-label") ?? one.textContent);
  });
}

/** Goes through the page by Tab, from the terminal by the key that leaves it, until it comes round. */
async function reach(tab: Tab): Promise<{ controls: Set<string>; reached: Set<string> }> {
  const { page } = tab;
  // By what it is called and where: some are drawn anew meanwhile.
  await page.evaluate(() => {
    window.nameOf = (one) => {
      const pane = one.closest("[data-pane]")?.getAttribute("data-pane") ?? "page";
      return `${pane}: ${one.tagName} ${one.getAttribute("aria-label") ?? one.textContent}`.trim();
    };
  });
  const controls = await page.evaluate(() => {
    const root = document.querySelector("dialog[open]") ?? document;
    const found = [...root.querySelectorAll("button, a[href], input, select, textarea, [role=tab], [role=option]")];
    return found
      .filter((one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
      .filter((one) => !one.matches(":disabled, .xterm-helper-textarea"))
      .filter((one) => !one.matches("[tabindex='-1'], input[type=radio]:not(:checked)")) // The arrows lead there.
      .map((one) => window.nameOf(one));
  });
  const reached = new Set<string>();
  for (let step = 0; step < controls.length * 2 + 10; step += 1) {
    const now = await page.evaluate(() => {
      const one = document.activeElement;
      return { isTerminal: one?.closest(".xterm") !== null, name: one === null ? "" : window.nameOf(one) };
    });
    reached.add(now.name);
    await page.keyboard.press(now.isTerminal ? "Control+F6" : "Tab");
  }
  return { controls: new Set(controls), reached };
}
