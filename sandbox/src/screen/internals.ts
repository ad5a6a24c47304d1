// The members of the emulator (@xterm/headless 6.1.0-beta.303, pinned) that its API does not offer. To follow them by parser hooks would take
// a second emulator. They are checked when a terminal is made, so that another version of the package fails at once instead of
// drawing something else.

import type { Terminal } from "@xterm/headless";
import { hasPaths, type XtermBuffer, type XtermCore, type XtermLine } from "sandbox-stdio/core";

/** Flags and colours as the emulator packs them: see {@link sgr}. */
export type Attributes = { readonly fg: number; readonly bg: number; readonly extended: Extended };
export type Extended = {
  /** Underline style and colour, whatever a hyperlink makes of them. */
  readonly _ext: number;
  readonly urlId: number;
};

/** A table of characters; undefined: ASCII as it is. */
export type Charset = object | undefined;

export type ScreenLine = XtermLine & {
  readonly isWrapped: boolean;
  /** Three numbers for each cell: text and width, then `fg` and `bg`. */
  readonly _data: Uint32Array;
  readonly _extendedAttrs: { readonly [column: number]: Extended | undefined };
};

export type ScreenBuffer = Omit<XtermBuffer, "lines"> & {
  readonly lines: { readonly length: number; get(row: number): ScreenLine | undefined };
  readonly tabs: { readonly [column: number]: boolean | undefined };
  readonly savedX: number;
  /** Counted as lines are, not as visible rows. */
  readonly savedY: number;
  readonly savedCurAttrData: Attributes;
  /** G0 to G3, as far as any was designated. */
  readonly savedCharsets: readonly Charset[];
  readonly savedGlevel: number;
  readonly savedOriginMode: boolean;
  readonly savedWraparoundMode: boolean;
};

export type Core = Omit<XtermCore, "buffers"> & {
  readonly buffers: { readonly normal: ScreenBuffer; readonly alt: ScreenBuffer; readonly active: ScreenBuffer };
  readonly coreService: {
    readonly modes: { readonly insertMode: boolean };
    readonly decPrivateModes: {
      readonly cursorBlink: boolean | undefined;
      readonly cursorStyle: "block" | "underline" | "bar" | undefined;
      readonly reverseWraparound: boolean;
      readonly sendFocus: boolean;
      readonly synchronizedOutput: boolean;
      readonly wraparound: boolean;
    };
  };
  readonly mouseStateService: { readonly activeEncoding: string };
  readonly _charsetService: {
    readonly glevel: number;
    readonly _charsets: readonly Charset[];
  };
  readonly _oscLinkService: {
    getLinkData(id: number): { readonly id?: string | undefined; readonly uri: string } | undefined;
  };
  readonly unicodeService: { getStringCellWidth(text: string): number };
  readonly _inputHandler: {
    readonly _curAttrData: Attributes;
    readonly _iconName: string;
    readonly _parser: {
      /** 0: within no sequence. */
      readonly currentState: number;
      readonly precedingJoinState: number;
    };
    /** Colours that a program asks for, sets or resets; without an index: the whole palette. */
    onColor(
      listener: (
        requests: readonly {
          readonly type: number;
          readonly index?: number;
          readonly color?: readonly [number, number, number];
        }[],
      ) => void,
    ): unknown;
    /** Parses at once, and without the queue of write(), which an exception would leave stuck. */
    parse(bytes: Uint8Array): void;
  };
};

/** @throws {Error} If the emulator is not the version that this was written for. */
export function coreOf(terminal: Terminal): Core {
  const core: unknown = Reflect.get(terminal, "_core");
  if (hasPaths<Core>(core, PATHS) && hasPaths<ScreenLine>(core.buffers.normal.lines.get(0), LINE_PATHS)) return core;
  throw new Error("Cannot read the screen: need @xterm/headless 6.1.0-beta.303");
}

/** Each member above. */
export const PATHS: readonly string[] = [
  ...["x", "y", "ybase", "scrollTop", "scrollBottom", "tabs", "lines.length", "lines.get"].flatMap(ofBuffer),
  ...["savedX", "savedY", "savedCurAttrData.fg", "savedCurAttrData.bg"].flatMap(ofBuffer),
  ...["savedCharsets", "savedGlevel", "savedOriginMode", "savedWraparoundMode"].flatMap(ofBuffer),
  "buffers.active.ybase",
  "coreService.isCursorHidden",
  "coreService.modes.insertMode",
  ...[
    ...["applicationCursorKeys", "applicationKeypad", "bracketedPasteMode", "origin", "reverseWraparound"],
    ...["sendFocus", "synchronizedOutput", "wraparound", "cursorBlink", "cursorStyle"],
  ].map((mode) => `coreService.decPrivateModes.${mode}`),
  "mouseStateService.activeProtocol",
  "mouseStateService.activeEncoding",
  "_charsetService.glevel",
  "_charsetService._charsets",
  "_oscLinkService.getLinkData",
  "_inputHandler._curAttrData.fg",
  "_inputHandler._curAttrData.bg",
  "_inputHandler._curAttrData.extended._ext",
  "_inputHandler._curAttrData.extended.urlId",
  "_inputHandler._iconName",
  "_inputHandler._parser.currentState",
  "_inputHandler._parser.precedingJoinState",
  "_inputHandler.parse",
  "_inputHandler.onColor",
  "unicodeService.getStringCellWidth",
];

export const LINE_PATHS = [
  "getWidth",
  "getString",
  "hasContent",
  "getFg",
  "getBg",
  "isWrapped",
  "_data",
  "_extendedAttrs",
];

function ofBuffer(member: string): string[] {
  return [`buffers.normal.${member}`, `buffers.alt.${member}`];
}
