// A terminal's whole state as plain data, so that two can be compared: what a person sees, and what decides what the next
// output does. Draws terminals from recordings and snapshots.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Unicode11Addon } from "@xterm/addon-unicode11/lib/addon-unicode11.mjs";
import { Terminal } from "@xterm/headless";
import { mendFaults, type Snapshot, XTERM_OPTIONS } from "sandbox-stdio/core";
import { expect } from "vitest";
import {
  attributesOf,
  backgroundOf,
  currentAttributes,
  PLAIN,
  sgr,
  showsOnBlank,
} from "../../src/screen/attributes.ts";
import { type Attributes, type Core, coreOf, type ScreenBuffer, type ScreenLine } from "../../src/screen/internals.ts";
import { SCROLLBACK_LINES } from "../../src/screen/lines.ts";
import { printedWidth } from "../../src/screen/rows.ts";

export type Mark = { readonly offset: number; readonly cols: number; readonly rows: number };
export type Recording = {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly cols: number;
  readonly rows: number;
  readonly marks: readonly Mark[];
};

const PLAIN_SGR = sgr(PLAIN);
const DIRECTORY = join(import.meta.dirname, "recordings");

export function recordings(): Recording[] {
  const names = readdirSync(DIRECTORY)
    .filter((file) => file.endsWith(".json"))
    .map((file) => file.slice(0, -".json".length));
  return names.sort().map((name) => {
    const facts = JSON.parse(readFileSync(join(DIRECTORY, `${name}.json`), "utf8"));
    return { name, bytes: new Uint8Array(readFileSync(join(DIRECTORY, `${name}.bin`))), ...facts };
  });
}

/** As toEqual, which takes long over a thousand lines that are the same. @param where Shown if they differ. */
export function expectSame(where: object, actual: object, expected: object): void {
  if (JSON.stringify(actual) !== JSON.stringify(expected))
    expect({ ...where, ...actual }).toEqual({ ...where, ...expected });
}

/** A client's terminal, which is told the size when it changes. */
export class Viewer {
  readonly #terminal: Terminal;
  readonly core: Core;
  #offset: number;
  readonly answers: string[] = [];
  /** Colours that were changed, as the page keeps them: by index, 256 and on for foreground, background and cursor. */
  readonly #colours = new Map<number, readonly number[]>();

  constructor(size: { readonly cols: number; readonly rows: number }, offset: number, scrollback = SCROLLBACK_LINES) {
    this.#offset = offset;
    this.#terminal = new Terminal({
      cols: size.cols,
      rows: size.rows,
      scrollback,
      ...XTERM_OPTIONS,
      allowProposedApi: true,
      logLevel: "off",
    });
    this.#terminal.loadAddon(new Unicode11Addon());
    this.#terminal.unicode.activeVersion = "11";
    mendFaults(this.#terminal);
    this.core = coreOf(this.#terminal);
    this.#terminal.onData((text) => this.answers.push(text));
    this.core._inputHandler.onColor((requests) => {
      for (const { type, index, color } of requests) {
        if (type === 1 && index !== undefined && color !== undefined) this.#colours.set(index, color);
        else if (type === 2 && index !== undefined) this.#colours.delete(index);
        else if (type === 2) for (const one of [...this.#colours.keys()]) if (one < 256) this.#colours.delete(one);
      }
    });
  }

  static of(snapshot: Snapshot): Viewer {
    const viewer = new Viewer(snapshot, snapshot.offset);
    viewer.core._inputHandler.parse(snapshot.bytes);
    return viewer;
  }

  get offset(): number {
    return this.#offset;
  }

  /** Draws the recording's bytes up to `end`, in the sizes that they had. */
  play(recording: Recording, end: number): void {
    while (this.#offset < end) {
      for (const mark of recording.marks) {
        if (mark.offset === this.#offset) this.#terminal.resize(mark.cols, mark.rows);
      }
      const next = recording.marks.find((mark) => mark.offset > this.#offset)?.offset ?? end;
      const to = Math.min(end, next);
      this.core._inputHandler.parse(recording.bytes.subarray(this.#offset, to));
      this.#offset = to;
    }
    for (const mark of recording.marks) if (mark.offset === end) this.#terminal.resize(mark.cols, mark.rows);
  }

  write(bytes: Uint8Array): void {
    this.core._inputHandler.parse(bytes);
    this.#offset += bytes.length;
  }

  resize(cols: number, rows: number): void {
    this.#terminal.resize(cols, rows);
  }

  /** Lines above the screen. */
  get scrollback(): number {
    return this.core.buffers.normal.ybase;
  }

  /**
   * @param scrollback So many lines above the screen count.
   * @param isStrict Else these don't count: hyperlinks, which the emulator forgets when the line is gone where they began;
   *   which rows are wrapped, for the first row drawn can't be; and the saved cursor, which it counts from the oldest line.
   */
  state(scrollback: number, isStrict = true): object {
    const { core } = this;
    const { normal, alt, active } = core.buffers;
    const { _inputHandler: input, _charsetService: charsets, coreService, mouseStateService } = core;
    return {
      size: [this.#terminal.cols, this.#terminal.rows],
      title: [input._windowTitle, input._iconName],
      isAlternate: active === alt,
      colours: [...this.#colours].sort(([a], [b]) => a - b),
      cursor: [active.x, active.y],
      normal: bufferState(core, normal, this.#terminal, scrollback, isStrict),
      alt:
        active === alt
          ? bufferState(core, alt, this.#terminal, 0, isStrict)
          : isStrict && savedState(alt, this.#terminal),
      attributes:
        sgr(currentAttributes(input._curAttrData)) +
        linkOf(isStrict ? core : undefined, input._curAttrData.extended.urlId),
      modes: { ...coreService.decPrivateModes, ...coreService.modes, isHidden: coreService.isCursorHidden },
      mouse: [mouseStateService.activeProtocol, mouseStateService.activeEncoding],
      options: [this.#terminal.options.convertEol, this.#terminal.options.cursorBlink],
      charset: [charsets.glevel, [0, 1, 2, 3].map((level) => charsets._charsets[level])],
    };
  }
}

function savedState(buffer: ScreenBuffer, terminal: Terminal): object {
  return {
    saved: [
      // One column behind the last it is about to wrap; further than that, a smaller size has cut it off.
      buffer.savedX > terminal.cols ? terminal.cols - 1 : buffer.savedX,
      Math.min(terminal.rows - 1, Math.max(0, buffer.savedY - buffer.ybase)),
      sgr({ ...buffer.savedCurAttrData, extended: { _ext: 0, urlId: 0 } }),
      [0, 1, 2, 3].map((level) => buffer.savedCharsets[level]),
      [buffer.savedGlevel, buffer.savedOriginMode, buffer.savedWraparoundMode],
    ],
  };
}

function bufferState(
  core: Core,
  buffer: ScreenBuffer,
  terminal: Terminal,
  scrollback: number,
  isStrict: boolean,
): object {
  const lines: string[] = [];
  for (let row = buffer.ybase - scrollback; row < buffer.ybase + terminal.rows; row += 1) {
    const line = buffer.lines.get(row);
    const isWrapped = isStrict && line?.isWrapped === true && row > buffer.ybase - scrollback;
    lines.push(
      line === undefined ? "none" : `${isWrapped ? "+" : ""}${lineState(core, line, terminal.cols, isStrict)}`,
    );
  }
  const tabs = Array.from({ length: terminal.cols }, (_, column) => buffer.tabs[column] === true);
  return {
    ...(isStrict ? savedState(buffer, terminal) : {}),
    region: [buffer.scrollTop, buffer.scrollBottom],
    tabs,
    lines,
  };
}

/** All cells, the attributes where they change. */
function lineState(core: Core, line: ScreenLine, cols: number, isStrict: boolean): string {
  let text = "";
  let last = "";
  let before: readonly unknown[] = [];
  for (let column = 0; column < cols; column += 1) {
    const width = printedWidth(core, line, column, cols);
    const hasContent = width !== undefined;
    const [fg, bg, extended] = [line.getFg(column), line.getBg(column), line._extendedAttrs[column]];
    if (fg !== before[0] || bg !== before[1] || extended !== before[2] || hasContent !== before[3]) {
      before = [fg, bg, extended, hasContent];
      const now = seenAttributes(core, attributesOf(fg, bg, extended), hasContent, isStrict);
      if (now !== last) text += `<${now.replaceAll("\x1b", "")}>`;
      last = now;
    }
    // Where attributes show without a character, it looks like a space.
    if (!hasContent) text += showsOnBlank(attributesOf(fg, bg, extended)) ? " " : "_";
    else text += width === 1 ? line.getString(column) : `${line.getString(column)}(${width})`;
    // Whatever is in a wide character's second cell is behind it.
    if (width === 2) column += 1;
  }
  return text;
}

/** Most attributes of a cell without a character are not visible. */
function seenAttributes(core: Core, attributes: Attributes, hasContent: boolean, isStrict: boolean): string {
  const isSeen = hasContent || showsOnBlank(attributes);
  const seen = isSeen ? withoutUnderlineColor(attributes) : { ...PLAIN, bg: backgroundOf(attributes.bg) };
  const drawn = sgr(seen) + linkOf(isStrict ? core : undefined, seen.extended.urlId);
  return drawn === PLAIN_SGR ? "" : drawn;
}

/** The colour shows only if there is an underline. */
function withoutUnderlineColor(attributes: Attributes): Attributes {
  const { extended } = attributes;
  return /;4(?::\d)?[;m]/.test(sgr(attributes))
    ? attributes
    : { ...attributes, extended: { _ext: 0, urlId: extended.urlId } };
}

function linkOf(core: Core | undefined, id: number): string {
  const link = id === 0 ? undefined : core?._oscLinkService.getLinkData(id);
  return link === undefined ? "" : `link ${link.uri}`;
}
