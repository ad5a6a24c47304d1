// Views of files on their way: asked about, under way, failed. A transfer under way stands still, so that it can be looked at.
import type { Fixture } from "./fixture.ts";
import type { Tab } from "./tab.ts";
import { shellOf, stopTransfers, type Views } from "./view.ts";

const BYTES = 3_000_000;

/** Has a file over the terminal, and lets go of it if `types` say so. */
const drop = (tab: Tab, types: readonly string[]) =>
  tab.page.locator(".xterm-screen").evaluate(
    (screen, { types, bytes }) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(["x".repeat(bytes)], "photo.jpg"));
      for (const type of types) {
        screen.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
      }
    },
    { types, bytes: BYTES },
  );

const question = (tab: Tab) => tab.page.getByRole("region", { name: "Download" });
const save = (tab: Tab) => question(tab).getByRole("button", { name: "Save it" });

export const transferViews = (browser: Fixture): Views => {
  const shell = shellOf(browser);
  const asking = async (tab: Tab): Promise<Tab> => {
    await tab.run(`clear; head -c ${BYTES} /dev/zero > backup.tar; sbx-download backup.tar`);
    await save(tab).waitFor();
    return tab;
  };
  return {
    "a file that is held over the terminal": async (look) => {
      const tab = await shell(look);
      await drop(tab, ["dragover"]);
      await tab.page.locator(".sbx-drop").waitFor();
      return tab;
    },
    "an upload": async (look) => {
      const tab = await shell(look, "", (profile) => stopTransfers(profile, "page", 36));
      await drop(tab, ["dragover", "drop"]);
      await tab.page.getByText(/^[1-9][\d,]* of 3,000,000 bytes/).waitFor();
      return tab;
    },
    "an upload that failed": async (look) => {
      const tab = await shell(look);
      await tab.run("cd /proc; clear; pwd");
      await tab.find(/^\/proc$/);
      await drop(tab, ["dragover", "drop"]);
      await tab.page.getByText(/^Not uploaded/).waitFor();
      return tab;
    },
    "a file that a program would save": async (look) => asking(await shell(look)),
    "a download": async (look) => {
      const tab = await asking(await shell(look, "", (profile) => stopTransfers(profile, "server", 12)));
      await save(tab).click();
      await tab.page.getByText(/^[1-9][\d,]* of 3,000,000 bytes/).waitFor();
      return tab;
    },
    "a download that failed": async (look) => {
      const tab = await asking(await shell(look));
      await tab.run("clear; rm backup.tar; ls | wc -l");
      await tab.find(/^0$/);
      await save(tab).click();
      await tab.page.getByText(/^Not downloaded/).waitFor();
      return tab;
    },
  };
};
