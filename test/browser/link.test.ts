// A session that is shared by a link: who may come by it, as what, and until when. Over the running system.
import { expect, test } from "vitest";
import { runCli } from "../e2e/support/clients/cli.ts";
import { fresh, person } from "../e2e/support/system/system.ts";
import { keyboardSays, setUpParty, tells } from "./support/party.ts";
import type { Tab } from "./support/tab.ts";

const { browser, first, commandLine } = setUpParty();

/** Makes a link in the dialog. */
async function share(
  tab: Tab,
  choose: (dialog: ReturnType<Tab["page"]["getByRole"]>) => Promise<unknown>,
): Promise<string> {
  await tab.button("Share");
  const dialog = tab.page.getByRole("dialog");
  await choose(dialog);
  await dialog.getByRole("button", { name: "Copy link" }).click();
  const url = await dialog.getByLabel(/^Link, valid/).inputValue();
  await tab.page.keyboard.press("Escape");
  return url.replace("/?", "/?debug=1&renderer=dom&");
}

test("a link leads a guest in a fresh browser to the session until it is revoked; another lets a stranger log in and type", async () => {
  const sandbox = fresh("guest");
  const ann = await first(sandbox, "Ann");
  const url = await share(ann, (dialog) => dialog.getByLabel("Who may use the link").selectOption("with the link"));
  // The dialog has gone, and keys are the shell's again.
  await ann.page.keyboard.type("echo typed after the dialog");
  await ann.page.keyboard.press("Enter");
  await ann.shows("typed after the dialog");
  const guest = await browser.open(await browser.profile(), url);
  await guest.state("attached");
  expect(guest.page.url()).not.toContain("#");
  await tells(ann, "joined as a viewer");
  await keyboardSays(guest, "You are a viewer");
  await guest.type("no");
  // Other sessions are offered to no guest.
  await guest.page.keyboard.press("Control+Shift+P");
  expect([
    await guest.page.getByRole("dialog").count(),
    await guest.page.getByRole("button", { name: "Sessions" }).count(),
  ]).toEqual([0, 0]);
  await ann.run("echo for the guest");
  await guest.shows("for the guest");
  await guest.page.reload();
  await guest.state("attached");

  await ann.button("Share");
  await ann.page
    .getByRole("dialog")
    .getByRole("button", { name: /^Revoke/ })
    .click();
  await guest.page.getByRole("alert").getByText("This link is no longer valid").waitFor();
  await guest.page.reload();
  await guest.page.getByRole("alert").getByText("This link is no longer valid").waitFor();
  await tells(ann, "left");
  await ann.page.keyboard.press("Escape");
  await guest.page.close();

  // A person of another tenant.
  const toType = await share(ann, (dialog) => dialog.getByLabel("What they may do").selectOption("type"));
  const eve = await browser.open(await browser.profile(), toType);
  await eve.page.getByRole("alert").getByRole("button", { name: "Log in" }).click();
  await eve.page.getByLabel("User name").fill("eve");
  await eve.page.getByLabel("Organisation").fill("elsewhere");
  await eve.page.getByRole("button", { name: "Log in" }).click();
  await eve.state("attached");
  expect(eve.page.url()).not.toContain("#");
  await tells(ann, "Eve joined");
  await eve.run("echo typed by eve");
  await ann.shows("typed by eve");
  expect(await eve.page.getByRole("button", { name: "Share" }).count()).toBe(0);

  // Made on the command line it leads the command line there, and is taken back there.
  const cli = await commandLine(sandbox, "Cli");
  cli.type("", "C-]");
  await cli.endsWith(/^local\$$/);
  const where = `$AT --sandbox ${sandbox} --session main`;
  cli.type(`clear; LINK=$($SBX share ${where} --role driver --guests --seconds 600)`, "Enter");
  await cli.endsWith(/^local\$$/);
  cli.type(`clear; SBX_TOKEN= $SBX attach "$LINK" --name Guest`, "Enter");
  await tells(ann, "Guest (guest) joined");
  await cli.shows(/^typed by eve$/);
  cli.type("echo typed by guest", "Enter");
  await ann.shows("typed by guest");
  const who = await person({ org: "local" });
  const place = ["--sandbox", sandbox, "--session", "main"];
  const { stdout } = await runCli(who, place, "", "tickets");
  const [, id = ""] = /^(\S+) +driver +yes /m.exec(stdout) ?? [];
  expect((await runCli(who, [id, ...place], "", "revoke")).code).toBe(0);
  await cli.shows(/^sbx-stdio: the ticket was revoked/);
  await tells(ann, "Guest (guest) left");
});
