// Touch on the terminal: dragging scrolls and pans, two fingers zoom, a long press selects words, a tap focuses. xterm.js 6.1 does none of it.

import type { Terminal } from "@xterm/xterm";

const LONG_PRESS_MS = 500;
/** Pixels of movement from which a touch is a drag. */
const SLACK_PX = 8;

type Cell = { readonly x: number; readonly y: number };
type Gesture =
  | { readonly kind: "undecided" }
  | { readonly kind: "scroll"; x: number; y: number; rest: number }
  /** Two fingers, this far from each other when the size last changed. */
  | { readonly kind: "zoom"; distance: number }
  | { readonly kind: "select"; readonly from: Cell };

/**
 * @param stage The element around the terminal. @param zoom Changes the size of a framed terminal; returns whether it did.
 * @returns Removes the handlers.
 */
export function handleTouch(terminal: Terminal, stage: HTMLElement, zoom: (factor: number) => boolean): () => void {
  const stop = new AbortController();
  const { signal } = stop;
  let gesture: Gesture | undefined;
  let timer = 0;
  /** Where and when the finger came down. */
  let start = { x: 0, y: 0, atMs: 0 };

  const screen = () => stage.querySelector(".xterm-screen")?.getBoundingClientRect();
  const cellAt = ({ clientX, clientY }: Touch): Cell | undefined => {
    const box = screen();
    if (box === undefined || box.width === 0) return undefined;
    const within = (at: number, size: number, count: number) =>
      Math.max(0, Math.min(count - 1, Math.floor((at / size) * count)));
    const y = within(clientY - box.top, box.height, terminal.rows) + terminal.buffer.active.viewportY;
    return { x: within(clientX - box.left, box.width, terminal.cols), y };
  };
  const end = () => {
    clearTimeout(timer);
    gesture = undefined;
  };

  const scroll = (drag: Extract<Gesture, { kind: "scroll" }>, touch: Touch) => {
    const rowHeight = (screen()?.height ?? 0) / terminal.rows;
    if (rowHeight === 0) return;
    const moved = drag.rest + pan(stage, drag.x - touch.clientX, drag.y - touch.clientY);
    const lines = Math.trunc(moved / rowHeight);
    Object.assign(drag, { x: touch.clientX, y: touch.clientY, rest: moved - lines * rowHeight });
    if (lines !== 0) scrollBy(terminal, stage, lines, rowHeight, touch);
  };

  stage.addEventListener(
    "touchstart",
    (event) => {
      end();
      const [touch, second] = event.touches;
      if (touch === undefined) return;
      if (second !== undefined) {
        gesture = { kind: "zoom", distance: distanceOf(touch, second) };
        return;
      }
      gesture = { kind: "undecided" };
      start = { x: touch.clientX, y: touch.clientY, atMs: event.timeStamp };
      const from = cellAt(touch);
      timer = window.setTimeout(() => {
        if (from === undefined) return;
        gesture = { kind: "select", from };
        selectWords(terminal, from, from);
      }, LONG_PRESS_MS);
    },
    { signal, passive: true },
  );
  stage.addEventListener(
    "touchmove",
    (event) => {
      const [touch, second] = event.touches;
      if (touch === undefined || gesture === undefined) return;
      event.preventDefault();
      if (gesture.kind === "zoom") {
        const distance = second === undefined ? gesture.distance : distanceOf(touch, second);
        if (zoom(distance / gesture.distance)) gesture.distance = distance;
        return;
      }
      const isFar = Math.hypot(touch.clientX - start.x, touch.clientY - start.y) >= SLACK_PX;
      // A busy page hears of a drag after the timer.
      const isLate = gesture.kind === "select" && isFar && event.timeStamp - start.atMs < LONG_PRESS_MS;
      if (isLate) terminal.clearSelection();
      if (gesture.kind === "undecided" || isLate) {
        if (!isFar) return;
        clearTimeout(timer);
        gesture = { kind: "scroll", x: start.x, y: start.y, rest: 0 };
      }
      if (gesture.kind === "scroll") scroll(gesture, touch);
      else {
        const to = cellAt(touch);
        if (to !== undefined) selectWords(terminal, gesture.from, to);
      }
    },
    { signal, passive: false },
  );
  stage.addEventListener(
    "touchend",
    (event) => {
      // The mouse events after a touch would clear the selection.
      if (gesture?.kind === "select") event.preventDefault();
      end();
    },
    { signal, passive: false },
  );
  stage.addEventListener("touchcancel", end, { signal });
  // A long press selects and must not open a menu.
  stage.addEventListener("contextmenu", (event) => gesture?.kind === "select" && event.preventDefault(), { signal });
  return () => {
    end();
    stop.abort();
  };
}

function distanceOf(a: Touch, b: Touch): number {
  return Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
}

/** Moves a terminal that is larger than its stage. @returns The vertical distance that is left, for the lines. */
function pan(stage: HTMLElement, dx: number, dy: number): number {
  const { scrollTop } = stage;
  stage.scrollBy(dx, dy);
  return dy - (stage.scrollTop - scrollTop);
}

/** Scrolls like a wheel, which goes to a program that handles it or has no scrollback. */
function scrollBy(terminal: Terminal, stage: HTMLElement, lines: number, rowHeight: number, touch: Touch): void {
  const isPrograms = terminal.buffer.active.type === "alternate" || terminal.modes.mouseTrackingMode !== "none";
  if (!isPrograms) {
    terminal.scrollLines(lines);
    return;
  }
  const { clientX, clientY } = touch;
  const [deltaMode, at] = [WheelEvent.DOM_DELTA_PIXEL, stage.querySelector(".xterm-screen") ?? stage];
  for (let i = 0; i < Math.abs(lines); i += 1) {
    const deltaY = Math.sign(lines) * rowHeight;
    at.dispatchEvent(new WheelEvent("wheel", { bubbles: true, cancelable: true, clientX, clientY, deltaMode, deltaY }));
  }
}

/** Selects from one cell's word to another's. */
function selectWords(terminal: Terminal, a: Cell, b: Cell): void {
  const isForward = a.y < b.y || (a.y === b.y && a.x <= b.x);
  const [first, last] = isForward ? [a, b] : [b, a];
  const start = wordEdge(terminal, first, -1);
  const end = wordEdge(terminal, last, 1);
  terminal.select(start, first.y, (last.y - first.y) * terminal.cols + end - start + 1);
}

function wordEdge(terminal: Terminal, { x, y }: Cell, step: -1 | 1): number {
  const line = terminal.buffer.active.getLine(y);
  const isWord = (at: number) => at >= 0 && at < terminal.cols && /\S/.test(line?.getCell(at)?.getChars() ?? "");
  let edge = x;
  while (isWord(x) && isWord(edge + step)) edge += step;
  return edge;
}
