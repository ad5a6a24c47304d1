// What can be pressed on a page: whether the window's edge cuts it off, whether a finger hits it, whether the keyboard reaches it.
import type { Tab } from "./tab.ts";

declare global {
  interface Window {
    nameOf: (one: Element) => string;
    isSeen: (one: Element) => boolean;
  }
}

const CONTROLS = "button, a[href], select, input, textarea, [role=tab], [role=option]";

/** What a finger needs, less what rounding takes. */
const FINGER_PX = 43.5;

/** By what it is called and where: some are drawn anew meanwhile. */
function prepare(tab: Tab): Promise<void> {
  return tab.page.evaluate(() => {
    window.nameOf = (one) => {
      const pane = one.closest("[data-pane]")?.getAttribute("data-pane") ?? "page";
      const label = one.id === "" ? null : document.querySelector(`label[for="${CSS.escape(one.id)}"]`);
      // A tab's words change with what runs.
      const own = one.getAttribute(one.matches("[role=tab]") ? "title" : "aria-label");
      const name = own?.split("\n").at(-1) ?? (label ?? one.closest("label") ?? one).textContent;
      return `${pane}: ${one.tagName} ${name}`.trim();
    };
    window.isSeen = (one) =>
      one.checkVisibility({ visibilityProperty: true, opacityProperty: true }) &&
      !one.matches(".xterm-helper-textarea");
  });
}

/** The controls that the window's edge cuts off, and those that cut off their own words. */
export async function beyond(tab: Tab): Promise<string[]> {
  await prepare(tab);
  return tab.page.evaluate((controls) => {
    return [...document.querySelectorAll(controls)]
      .filter(window.isSeen)
      .filter(
        (one) => one.closest(".sbx-touch-keys, .sbx-tab-list, .sbx-tmux-tools, .sbx-who, [role=listbox]") === null,
      ) // Those scroll.
      .filter(
        (one) =>
          one.getBoundingClientRect().right > window.innerWidth + 1 ||
          (one.matches(".sbx-button, .sbx-quiet, select") && one.scrollWidth > one.clientWidth + 1),
      )
      .map(window.nameOf);
  }, CONTROLS);
}

/** The controls that are too small for a finger. */
export async function small(tab: Tab): Promise<string[]> {
  await prepare(tab);
  return tab.page.evaluate(
    ({ controls, least }) => {
      if (!matchMedia("(pointer: coarse)").matches) return ["The page does not know of fingers"];
      return [...document.querySelectorAll(controls)].filter(window.isSeen).flatMap((one) => {
        // A label is pressed as its box is.
        const hit = one.matches("input[type=checkbox], input[type=radio]") ? (one.closest("label") ?? one) : one;
        const { width, height } = hit.getBoundingClientRect();
        const isSmall = height < least || width < least;
        return isSmall ? [`${window.nameOf(one)}: ${Math.round(width)}×${Math.round(height)}`] : [];
      });
    },
    { controls: CONTROLS, least: FINGER_PX },
  );
}

/**
 * Goes through the page by Tab, from the terminal by the key that leaves it, until it comes round.
 * @param known What was reached before on the same page, and need not be again.
 */
export async function reach(
  tab: Tab,
  known: ReadonlySet<string>,
): Promise<{ controls: Set<string>; reached: Set<string> }> {
  const { page } = tab;
  await prepare(tab);
  const controls = await page.evaluate((controls) => {
    const root = document.querySelector("dialog[open]") ?? document;
    // What has keys without being pressed, too: the dividers.
    return [...root.querySelectorAll(`${controls}, [tabindex="0"]:not(.xterm *)`)]
      .filter((one) => one.matches(".sbx-file") || window.isSeen(one))
      .filter((one) => !one.matches(":disabled"))
      .filter((one) => !one.matches("[tabindex='-1'], input[type=radio]:not(:checked)")) // The arrows lead there.
      .map(window.nameOf);
  }, CONTROLS);
  const reached = new Set(known);
  for (let step = 0; step < controls.length * 2 + 10; step += 1) {
    const now = await page.evaluate(() => {
      const one = document.activeElement;
      return {
        isTerminal: one !== null && one.closest(".xterm") !== null,
        name: one === null ? "" : window.nameOf(one),
      };
    });
    reached.add(now.name);
    if (controls.every((one) => reached.has(one))) break;
    await page.keyboard.press(now.isTerminal ? "Control+F6" : "Tab");
  }
  return { controls: new Set(controls), reached };
}

/** What is over a terminal without being a dialog: the button that ends it. */
const ENDS = [
  ".sbx-upload > button",
  ".sbx-toast:not(.sbx-expiring, .sbx-refusal) button:last-of-type",
  ".sbx-search button:last-of-type",
  ".sbx-tmux-question button:last-of-type",
  ".sbx-to-bottom",
].join(", ");

/** Ends what is over the terminal, by keyboard alone. @returns Whether there was anything. */
export async function endByKeyboard({ page }: Tab): Promise<boolean> {
  if ((await page.locator(ENDS).count()) === 0) return false;
  for (let step = 0; step < 100; step += 1) {
    const isAt = await page.evaluate(
      (ends) => ({ end: document.activeElement?.matches(ends), terminal: document.activeElement?.matches(".xterm *") }),
      ENDS,
    );
    if (isAt.end === true) {
      await page.keyboard.press("Enter");
      return true;
    }
    await page.keyboard.press(isAt.terminal === true ? "Control+F6" : "Tab");
  }
  throw new Error("Cannot reach what ends it");
}
