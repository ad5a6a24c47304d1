// 39: every set of flags of kitty's keyboard protocol, on a page, after its reload, and on another person's page.
import { test } from "vitest";
import { fresh } from "../../e2e/support/system/system.ts";
import { pressAll, setFlags, startProgram } from "../keyboard/kitty-program.ts";
import { directoryOf, setUpBrowser } from "../support/fixture.ts";

const browser = setUpBrowser();

test("39: sixty keys send what the specification says with each of the 32 sets of flags, after a reload and a hand-over", async () => {
  const sandbox = fresh("kitty");
  const address = `/?sandbox=${sandbox}&session=main&debug=1&renderer=dom`;
  let tab = await browser.open(await browser.freshMember(), address);
  await tab.shell();
  const program = await startProgram(tab, directoryOf(sandbox));
  for (let flags = 0; flags < 32; flags += 1) {
    await setFlags(program, flags);
    await pressAll(tab, program, flags);
    await tab.page.reload();
    await tab.state("attached");
    await pressAll(tab, program, flags);
    const other = await browser.open(await browser.freshMember(), address);
    await other.state("attached");
    await tab.page.close();
    tab = other;
    await pressAll(tab, program, flags);
  }
});
