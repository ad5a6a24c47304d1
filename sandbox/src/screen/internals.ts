// What the emulator (@xterm/headless 6.0.0, pinned) knows of its screen and does not offer in its API. The same fields by
// parser hooks would be a second emulator beside the first. Checked when a terminal is made, so that another version of
// the package fails at once instead of drawing something else.

import type { Terminal } from "@xterm/headless";

/** Flags and colours as the emulator packs them: see {@link sgr}. */
export type Attributes = { readonly fg: number; readonly bg: number; readonly extended: Extended };
export type Extended = {
  /** Underline style and colour, whatever a hyperlink makes of them. */
  readonly _ext: number;
  readonly urlId: number;
};

/** A table of characters; undefined: ASCII as it is. */
export type Charset = object | undefined;

export type ScreenLine = {
  readonly isWrapped: boolean;
  /** Three numbers a cell: text and width, then `fg` and `bg`. */
  readonly _data: Uint32Array;
  readonly _extendedAttrs: { readonly [column: number]: Extended | undefined };
  getWidth(column: number): number;
  getString(column: number): string;
  hasContent(column: number): number;
  getFg(column: number): number;
  getBg(column: number): number;
};

export type ScreenBuffer = {
  readonly lines: { readonly length: number; get(row: number): ScreenLine | undefined };
  /** The first visible line. */
  readonly ybase: number;
  readonly x: number;
  readonly y: number;
  readonly scrollTop: number;
  readonly scrollBottom: number;
  readonly tabs: { readonly [column: number]: boolean | undefined };
  readonly savedX: number;
  /** Counted as lines are, not as visible rows. */
  readonly savedY: number;
  readonly savedCurAttrData: Attributes;
  readonly savedCharset: Charset;
};

export type Core = {
  readonly buffers: { readonly normal: ScreenBuffer; readonly alt: ScreenBuffer; readonly active: ScreenBuffer };
  readonly coreService: {
    readonly isCursorHidden: boolean;
    readonly modes: { readonly insertMode: boolean };
    readonly decPrivateModes: {
      readonly applicationCursorKeys: boolean;
      readonly applicationKeypad: boolean;
      readonly bracketedPasteMode: boolean;
      readonly cursorBlink: boolean | undefined;
      readonly cursorStyle: "block" | "underline" | "bar" | undefined;
      readonly origin: boolean;
      readonly reverseWraparound: boolean;
      readonly sendFocus: boolean;
      readonly synchronizedOutput: boolean;
      readonly wraparound: boolean;
    };
  };
  readonly coreMouseService: { readonly activeProtocol: string; readonly activeEncoding: string };
  readonly _charsetService: {
    readonly charset: Charset;
    readonly glevel: number;
    readonly _charsets: readonly Charset[];
  };
  readonly _oscLinkService: {
    getLinkData(id: number): { readonly id?: string | undefined; readonly uri: string } | undefined;
  };
  readonly unicodeService: { getStringCellWidth(text: string): number };
  readonly _inputHandler: {
    readonly _curAttrData: Attributes;
    readonly _windowTitle: string;
    readonly _iconName: string;
    readonly _parser: {
      /** 0: within no sequence. */
      readonly currentState: number;
      readonly precedingJoinState: number;
    };
    /** Colours that are asked for, set or given back; the index undefined: all of the palette. */
    onColor(
      listener: (
        requests: readonly {
          readonly type: number;
          readonly index?: number;
          readonly color?: readonly [number, number, number];
        }[],
      ) => void,
    ): unknown;
    /** At once, and without the queue of write(), which an exception would leave stuck. */
    parse(bytes: Uint8Array): void;
  };
};

/** @throws {Error} Where the emulator is not the version that this was written for. */
export function coreOf(terminal: Terminal): Core {
  const core: unknown = Reflect.get(terminal, "_core");
  if (!isCore(core)) throw new Error("Cannot read the screen: need @xterm/headless 6.0.0");
  return core;
}

const PATHS = [
  "buffers.normal.savedCurAttrData.fg",
  "buffers.normal.tabs",
  "buffers.alt.savedY",
  "buffers.active.ybase",
  "coreService.modes.insertMode",
  "coreService.decPrivateModes.wraparound",
  "coreMouseService.activeProtocol",
  "_charsetService.glevel",
  "_charsetService._charsets",
  "_oscLinkService.getLinkData",
  "_inputHandler._curAttrData.extended.urlId",
  "_inputHandler._windowTitle",
  "_inputHandler._iconName",
  "_inputHandler._parser.currentState",
  "_inputHandler._parser.precedingJoinState",
  "_inputHandler.parse",
  "_inputHandler.onColor",
  "unicodeService.getStringCellWidth",
];

function isCore(value: unknown): value is Core {
  return PATHS.every((path) => {
    let at: unknown = value;
    for (const name of path.split(".")) {
      if (typeof at !== "object" || at === null) return false;
      at = Reflect.get(at, name);
    }
    return at !== undefined;
  });
}
