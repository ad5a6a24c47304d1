// The keys around a terminal that are the page's: after the process's end, and out of the terminal and back.

import type { KeyboardEvent } from "react";
import type { TerminalView } from "./terminal-view.ts";

/** The effect of a key in the terminal after the end of the process. */
export function remedyOfKey({ key, target, ctrlKey, altKey, metaKey, shiftKey, repeat }: globalThis.KeyboardEvent) {
  if (!isInTerminal(target) || ctrlKey || altKey || metaKey || shiftKey || repeat) return undefined;
  return key === "Enter" ? "again" : key === "Escape" ? "close" : undefined;
}

/** Ctrl+F6 leads from the terminal, which takes every other key, to the buttons around it; it and Escape lead back. */
export function stepOut(
  event: KeyboardEvent<HTMLElement>,
  section: HTMLElement | null,
  screen: TerminalView | undefined,
): void {
  const { target } = event;
  if (!(target instanceof Element) || isInDialog(target)) return;
  const isStep = event.ctrlKey && event.key === "F6";
  if (isStep && isInTerminal(target)) {
    // Else the terminal would catch the Tab between the buttons before it and those behind it.
    screen?.joinTabOrder(false);
    section?.querySelector<HTMLElement>("button:not(:disabled)")?.focus();
  } else if ((isStep || event.key === "Escape") && !isInTerminal(target)) screen?.focus();
  else return;
  event.preventDefault();
}

/**
 * Whether a click has left the keyboard with nothing, as one on a bar does. Not if text was selected there, to be copied; nor after a
 * touch, which would bring up the keyboard of a phone.
 */
export function isAdrift(click: MouseEvent): boolean {
  const { activeElement } = document;
  const isTouch = click instanceof PointerEvent && click.pointerType === "touch";
  const hasSelected = document.getSelection()?.isCollapsed === false;
  return (activeElement === null || activeElement === document.body) && !isTouch && !hasSelected;
}

/** Of an element that comes in the place of the one that had the keyboard. */
export function takeFocus(element: HTMLElement | null): void {
  element?.focus();
}

/** Whether it is in a terminal that stands within this one, as a pane's does: its keys are its own. */
export function isWithin(target: EventTarget | null, section: Element | null): boolean {
  return target instanceof Element && target.closest(".sbx-terminal") !== section;
}

export function isInTerminal(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest(".xterm") !== null;
}

export function isInDialog(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("dialog") !== null;
}
