// Views of what a person has chosen: a theme of their own, high contrast, the mode for screen readers.
import type { Fixture } from "./fixture.ts";
import { dialog, type Look, shellOf, type Views } from "./view.ts";

const THEME = {
  name: "Forest",
  type: "dark",
  colors: {
    "terminal.background": "#10241c",
    "terminal.foreground": "#d8e6dc",
    "terminalCursor.foreground": "#7ee2a8",
  },
};

export const settingViews = (browser: Fixture): Views => {
  const shell = shellOf(browser);
  const chosen = async (look: Look, preferences: object) => {
    const kept = JSON.stringify(preferences);
    const tab = await shell(look, "", (profile) =>
      profile.addInitScript((text) => localStorage.setItem("sbx.preferences", text), kept),
    );
    await tab.run("clear; printf 'ok \\e[32mgreen\\e[m \\e[31mred\\e[m \\e[1;34mbold\\e[m\\n'");
    await tab.find(/^ok green red bold$/);
    return tab;
  };
  return {
    "a theme of one's own": async (look) => {
      const tab = await shell(look);
      await tab.page.keyboard.press("Control+Shift+Comma");
      await dialog(tab);
      const choose = (name: string, text: string) =>
        tab.page
          .getByLabel("Import a theme…")
          .setInputFiles({ name, mimeType: "text/plain", buffer: Buffer.from(text) });
      await choose("forest.json", JSON.stringify(THEME));
      await tab.page.getByText("Theme: Forest").waitFor();
      await choose("photo.json", "not a theme");
      await tab.page.getByText("photo.json is no theme").waitFor();
      return tab;
    },
    "high contrast": (look) => chosen(look, { scheme: "contrast" }),
    "the mode for screen readers": (look) => chosen(look, { isReader: true }),
  };
};
