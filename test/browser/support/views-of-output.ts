// Views of what is printed: links that are asked about, the way back through it, what is said of it.
import type { BrowserContext } from "playwright-core";
import type { Fixture } from "./fixture.ts";
import { clickOn } from "./links.ts";
import type { Tab } from "./tab.ts";
import { dialog, type Look, shellOf, type Views } from "./view.ts";

const link = (address: string, text: string) => `clear; printf '\\e]8;;%s\\a%s\\e]8;;\\a\\n' '${address}' '${text}'`;

export const outputViews = (browser: Fixture): Views => {
  const shell = shellOf(browser);
  const asked = async (
    look: Look,
    printed: string,
    text: string,
    modifier?: "Control",
    before?: (profile: BrowserContext) => Promise<unknown>,
  ): Promise<Tab> => {
    const tab = await shell(look, "", before);
    await tab.run(printed);
    await tab.find(new RegExp(`^${text}`));
    await clickOn(tab, text, modifier);
    await dialog(tab);
    return tab;
  };
  return {
    "a link whose text says another address": (look) =>
      asked(look, link("https://elsewhere.example/login?back=%2Fhome", "https://bank.example"), "https://bank"),
    "a link that is not opened": (look) => asked(look, link("javascript:alert(1)", "the documents"), "the documents"),
    "a path in the output": (look) => asked(look, "clear; echo src/main.ts:12:5", "src/main", "Control"),
    "a port of the sandbox": (look) => asked(look, link("http://localhost:5173/", "your page"), "your page"),
    "a port of the sandbox, without previews": (look) =>
      asked(look, "clear; echo http://localhost:5173/", "http://localhost", "Control", (profile) =>
        profile.route("**/api/me", async (route) => {
          const me = (await (await route.fetch()).json()) as object;
          await route.fulfill({ json: { ...me, previews: false } });
        }),
      ),
    "an earlier place in the output": async (look) => {
      const tab = await shell(look);
      await tab.run("seq 1 200");
      await tab.find(/^200$/);
      await tab.page.keyboard.press("Shift+PageUp");
      await tab.page.getByRole("button", { name: "↓ Newest" }).waitFor();
      return tab;
    },
    "how slow the link is": async (look) => {
      const tab = await shell(look);
      await tab.page.keyboard.press("Control+Shift+L");
      await tab.page.getByText(/bytes still to be drawn$/).waitFor();
      return tab;
    },
  };
};
