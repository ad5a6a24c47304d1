// Walks through what comes of the output: links that are asked about, and files on their way, which stand still to be looked at.
import type { Fixture } from "./fixture.ts";
import { clickOn } from "./links.ts";
import type { Tab } from "./tab.ts";
import {
  type Connections,
  changeMe,
  dialog,
  playConnections,
  playTransfers,
  type See,
  shell,
  type Walk,
} from "./view.ts";
import { ending } from "./views-of-connections.ts";

const link = (address: string, text: string) => `printf '\\e]8;;%s\\a%s\\e]8;;\\a\\n' '${address}' '${text}'`;

async function ask(tab: Tab, printed: string, text: string, modifier?: "Control"): Promise<void> {
  await tab.run(`clear; ${printed}`);
  await tab.find(new RegExp(`^${text}`));
  await clickOn(tab, text, modifier);
  await dialog(tab);
}

const BYTES = 3_000_000;
const UNDER_WAY = /^\d[\d.]* of 3\.0 MB/;

/** Does this with a file over the terminal: has it there, takes it away, lets go of it. */
const drag = (tab: Tab, ...types: ("dragover" | "dragleave" | "drop")[]) =>
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

/** On a page with a shell. */
export async function links(see: See, tab: Tab): Promise<void> {
  await ask(tab, link("https://elsewhere.example/login?back=%2Fhome", "https://bank.example"), "https://bank");
  await see("a link whose text says another address", tab);
  await ask(tab, link("javascript:alert(1)", "the documents"), "the documents");
  await see("a link that is not opened", tab);
  await ask(tab, "echo src/main.ts:12:5", "src/main", "Control");
  await see("a path in the output", tab);
  await ask(tab, link("http://localhost:5173/", "your page"), "your page");
  await see("a port of the sandbox", tab);
  await tab.run("clear; mkdir -p folder; touch file");
  await tab.page.getByRole("button", { name: "Files" }).click();
  await tab.page.getByRole("treeitem", { name: "file" }).waitFor();
  await see("the files panel", tab);
  await tab.page.getByRole("button", { name: "Files" }).click();
  await tab.page.getByRole("treeitem", { name: "file" }).waitFor({ state: "detached" });
}

export const transferWalks = (browser: Fixture): Readonly<Record<string, Walk>> => ({
  "files on their way without previews, a sandbox that stops, and a login that ends": async (see) => {
    let transfers = { areHeld: false };
    let connections: Connections = [];
    const tab = await shell(browser, "", async (profile) => {
      connections = await playConnections(profile);
      // The later one is asked first.
      transfers = await playTransfers(profile);
      await changeMe(profile, () => ({ previews: false }));
    });
    const save = tab.page.getByRole("region", { name: "Download" }).getByRole("button", { name: "Save" });
    const offer = async () => {
      await tab.run(`clear; head -c ${BYTES} /dev/zero > backup.tar; sbx-download backup.tar`);
      await save.waitFor();
    };
    await ask(tab, "echo http://localhost:5173/", "http://localhost", "Control");
    await see("a port of the sandbox, without previews", tab);
    await drag(tab, "dragover");
    await tab.page.locator(".sbx-drop").waitFor();
    await see("a file that is held over the terminal", tab);
    await drag(tab, "dragleave");
    await offer();
    await see("a file that a program would save", tab);
    await offer();
    await tab.run("clear; rm backup.tar; ls | wc -l");
    await tab.find(/^0$/);
    await save.click();
    await tab.page.getByText(/^Not downloaded/).waitFor();
    await see("a download that failed", tab);
    await tab.run("cd /proc; clear; pwd");
    await tab.find(/^\/proc$/);
    // The page knows the directory by its prompt, which comes later.
    await tab.prompt();
    await drag(tab, "dragover", "drop");
    await tab.page.getByText(/^Not uploaded/).waitFor();
    await see("an upload that failed", tab);
    await tab.run("cd - && clear; echo back");
    await tab.shows("back");
    await tab.prompt();
    transfers.areHeld = true;
    await offer();
    await save.click();
    await tab.page.getByText(UNDER_WAY).waitFor();
    await see("a download", tab);
    await drag(tab, "dragover", "drop");
    await tab.page.getByText(UNDER_WAY).waitFor();
    await see("an upload", tab);
    transfers.areHeld = false;
    await ending(see, tab, connections);
  },
});
