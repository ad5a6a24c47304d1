// A connection that breaks under the page, and a flood: nothing is lost, and the person stays in command.
import { expect, test } from "vitest";
import { NOW_AND_THEN } from "../../packages/dashboard/test/browser.ts";
import { cutInnerHop, restartWorker } from "../e2e/support/system/system.ts";
import { COUNT, counts, expectAllLines } from "./support/counting.ts";
import { setUpBrowser } from "./support/fixture.ts";

const browser = setUpBrowser();

test("a cut between Worker and sandbox is none of the page's business; it and a Worker that is killed cost no line", async () => {
  const { tab, directory } = await browser.sameShell();
  await tab.run(COUNT);
  await counts(tab, 20);
  await cutInnerHop();
  await counts(tab, 60);
  await tab.state("attached");
  expect(await tab.data("resumes")).toBe("0");
  await restartWorker();
  // What the page says of a cut and of its end may be gone before anybody reads it. This stays.
  await expect.poll(async () => Number(await tab.data("resumes"))).toBeGreaterThan(0);
  await expectAllLines(tab, directory);
  expect(await tab.data("missed-bytes")).toBe("0");
});

test("during yes the page stays usable, its memory does not grow, and ^C brings the prompt back", async () => {
  const { tab } = await browser.sameShell();
  const session = await tab.page.context().newCDPSession(tab.page);
  const drawnBytes = () => tab.page.evaluate(() => window.sbx.client.client?.resumePoint?.offset ?? 0);
  const heapBytes = async () => {
    await session.send("HeapProfiler.collectGarbage");
    const { usedSize, embedderHeapUsedSize, backingStorageSize } = await session.send("Runtime.getHeapUsage");
    return usedSize + embedderHeapUsedSize + backingStorageSize;
  };
  const draws = async (bytes: number) => {
    const wanted = (await drawnBytes()) + bytes;
    await tab.page.waitForFunction(
      (end) => (window.sbx.client.client?.resumePoint?.offset ?? 0) >= end,
      wanted,
      NOW_AND_THEN,
    );
  };
  /** Of several: what is on its way to the screen, and code that was just compiled, come and go by megabytes. */
  const leastHeapBytes = async () => {
    const samples: number[] = [];
    for (let i = 0; i < 4; i += 1) {
      await draws(400_000);
      samples.push(await heapBytes());
    }
    return Math.min(...samples);
  };

  // Lines that are as wide as the screen: to draw as many bytes of short ones takes several times as long.
  await tab.run('yes "$(seq -s " " 27)"');
  // The scrollback is full by then.
  await draws(900_000);
  const early = await leastHeapBytes();
  await draws(4_000_000);
  // Had it been kept, the output alone would be more.
  expect((await leastHeapBytes()) - early).toBeLessThan(4_000_000);
  // A button is the page's own: it answers in the flood.
  await tab.button("Screen reader");
  await tab.page.locator('.sbx-reader[aria-pressed="true"]').waitFor();
  await tab.page.locator(".xterm-helper-textarea").press("Control+C");
  await tab.prompt();
  expect(await tab.data("missed-bytes")).toBe("0");
  await tab.run("echo here $?");
  await tab.shows("here 130");
});
