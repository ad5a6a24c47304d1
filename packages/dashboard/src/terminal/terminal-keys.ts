// Keys and focus around a terminal: after the process's end, and out of the terminal and back.

import type { KeyboardEvent } from "react";
import { joinTabOrder, type TerminalView } from "./terminal-view.ts";

/** What a key does after the process's end. */
export function remedyOfKey({ key, target, ctrlKey, altKey, metaKey, shiftKey, repeat }: globalThis.KeyboardEvent) {
  if (!isInTerminal(target) || ctrlKey || altKey || metaKey || shiftKey || repeat) return undefined;
  return key === "Enter" ? "again" : key === "Escape" ? "close" : undefined;
}

/** Where Ctrl+F6 leads: the line of each pane in view, the status bar, the tabs. */
const REGIONS = '.sbx-pane[data-seen="true"] .sbx-people, .sbx-bar, .sbx-tabs';
const CONTROL = "button:not(:disabled, [tabindex='-1']), select, [tabindex='0']";

/** Moves the focus to the first control of the next region of the page, round and round. @returns Whether there is another. */
export function focusNextRegion(from: Element, isBack: boolean): boolean {
  const regions = [...document.querySelectorAll(REGIONS)].filter((region) => region.querySelector(CONTROL) !== null);
  const at = regions.findIndex((region) => region.contains(from));
  const next = regions[(at + (isBack ? -1 : 1) + regions.length) % regions.length];
  if (at < 0 || next === undefined || regions.length < 2) return false;
  next.querySelector<HTMLElement>(CONTROL)?.focus();
  return true;
}

/**
 * Ctrl+F6 moves the focus from the terminal, which takes every other key, to the buttons, and from there round the page; Escape moves it
 * back.
 */
export function leaveTerminal(
  event: KeyboardEvent<HTMLElement>,
  section: HTMLElement | null,
  screen: TerminalView | undefined,
): void {
  const { target } = event;
  if (!(target instanceof Element) || isInDialog(target)) return;
  const isStep = event.ctrlKey && event.key === "F6";
  if (isStep && isInTerminal(target)) {
    // Otherwise Tab between the buttons would end in the terminal.
    joinTabOrder(false);
    const buttons = [...(section?.querySelectorAll<HTMLElement>("button:not(:disabled)") ?? [])];
    // Who may not type asks for the keyboard.
    const first = buttons.find((button) => button.closest(".sbx-keyboard") !== null) ?? buttons[0];
    // In a small window the pane's line is in the status bar.
    (first ?? document.querySelector<HTMLElement>(`.sbx-bar :is(${CONTROL})`))?.focus();
  } else if (isStep && focusNextRegion(target, event.shiftKey)) {
    event.stopPropagation();
  } else if ((isStep || event.key === "Escape") && !isInTerminal(target)) screen?.focus();
  else return;
  event.preventDefault();
}

/**
 * Whether a click left nothing focused, as on a bar. Not after selecting text to copy, nor after a touch, which would open the touch
 * keyboard.
 */
export function isUnfocused(click: MouseEvent): boolean {
  const { activeElement } = document;
  const isTouch = click instanceof PointerEvent && click.pointerType === "touch";
  const hasSelected = document.getSelection()?.isCollapsed === false;
  return (activeElement === null || activeElement === document.body) && !isTouch && !hasSelected;
}

/** For an element that replaces the focused one. */
export function takeFocus(element: HTMLElement | null): void {
  element?.focus();
}

/** Whether the target is in an inner terminal, as a pane's, which handles its own keys. */
export function isWithin(target: EventTarget | null, section: Element | null): boolean {
  // The page's status bar is outside, but its keys come here.
  const terminal = target instanceof Element ? target.closest(".sbx-terminal") : null;
  return terminal !== null && terminal !== section;
}

export function isInTerminal(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest(".xterm") !== null;
}

export function isInDialog(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("dialog") !== null;
}
