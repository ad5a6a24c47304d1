// What a page keeps in its memory, as Chromium's developer tools count it.
import type { Tab } from "./tab.ts";

/** The terminals in the page's memory that something still holds. */
export async function liveTerminals({ page }: Tab): Promise<number> {
  // The cursor blinks: until it draws another frame, the browser holds elements of the last one.
  await page.emulateMedia({ reducedMotion: "no-preference" });
  const devTools = await page.context().newCDPSession(page);
  try {
    const expression = "Object.getPrototypeOf(window.sbx.terminal)";
    const { result } = await devTools.send("Runtime.evaluate", { expression });
    // Collects what nothing holds first.
    const { objects } = await devTools.send("Runtime.queryObjects", { prototypeObjectId: result.objectId ?? "" });
    const { result: properties } = await devTools.send("Runtime.getProperties", {
      objectId: objects.objectId ?? "",
      ownProperties: true,
    });
    return properties.filter(({ name }) => /^\d+$/.test(name)).length;
  } finally {
    await devTools.detach();
  }
}
