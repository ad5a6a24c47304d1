// Reads the screen of xterm.js 6.1 for programs (S1): lines without trailing blanks, cursor, modes and styled runs. Shared by the
// bridge's emulator and the Worker's redrawing. Knows only the internals that it reads.

/** A line of cells. Each cell packs colours and flags into two numbers. */
export type XtermLine = {
  /** 0 for the second half of a wide character. */
  getWidth(column: number): number;
  getString(column: number): string;
  hasContent(column: number): number;
  getFg(column: number): number;
  getBg(column: number): number;
};

export type XtermBuffer = {
  readonly lines: { get(row: number): XtermLine | undefined };
  /** Row of the first visible line. */
  readonly ybase: number;
  readonly x: number;
  readonly y: number;
  readonly scrollTop: number;
  readonly scrollBottom: number;
};

/** The members read of a terminal's core. */
export type XtermCore = {
  readonly buffers: { readonly normal: XtermBuffer; readonly active: XtermBuffer };
  readonly coreService: {
    readonly isCursorHidden: boolean;
    readonly decPrivateModes: {
      readonly applicationCursorKeys: boolean;
      readonly applicationKeypad: boolean;
      readonly bracketedPasteMode: boolean;
      readonly origin: boolean;
    };
  };
  readonly mouseStateService: { readonly activeProtocol: string };
  readonly _inputHandler: {
    readonly _windowTitle: string;
    readonly _curAttrData: { readonly extended: { readonly urlId: number } };
    /** 0: within no sequence. */
    readonly _parser: { readonly currentState: number };
  };
};

const PATHS = [
  "buffers.active.ybase",
  "coreService.decPrivateModes.bracketedPasteMode",
  "mouseStateService.activeProtocol",
  "_inputHandler._windowTitle",
  "_inputHandler._curAttrData.extended.urlId",
  "_inputHandler._parser.currentState",
];

type Terminal = { readonly cols: number; readonly rows: number; readonly options: { readonly convertEol?: boolean } };

/** Adjacent cells of one style. Colours are `#rrggbb` or palette indexes. */
export type StyleRun = {
  /** First column, from 0, and number of columns. */
  readonly x: number;
  readonly cols: number;
  readonly fg?: number | string;
  readonly bg?: number | string;
  readonly bold?: true;
  readonly dim?: true;
  readonly italic?: true;
  readonly underline?: true;
  readonly blink?: true;
  readonly inverse?: true;
  readonly invisible?: true;
  readonly strikethrough?: true;
  readonly overline?: true;
};

/** Everything about the screen except its rows. */
export type ScreenFacts = {
  readonly cols: number;
  readonly rows: number;
  /** From 0, top left. */
  readonly cursor: { readonly x: number; readonly y: number; readonly visible: boolean };
  readonly alternate: boolean;
  readonly title: string;
  readonly modes: {
    readonly bracketedPaste: boolean;
    readonly applicationCursor: boolean;
    readonly applicationKeypad: boolean;
    readonly newLine: boolean;
    readonly mouse: boolean;
  };
};

const COLOR_MODE = 0x3000000;
const COLOR_RGB = 0x3000000;
const FG_FLAGS = [
  [0x8000000, "bold"],
  [0x10000000, "underline"],
  [0x20000000, "blink"],
  [0x4000000, "inverse"],
  [0x40000000, "invisible"],
  [0x80000000, "strikethrough"],
] as const;
const BG_FLAGS = [
  [0x8000000, "dim"],
  [0x4000000, "italic"],
  [0x40000000, "overline"],
] as const;

/** @throws {Error} If the terminal is not the version that this was written for. */
export function xtermCoreOf(terminal: object): XtermCore {
  const core: unknown = Reflect.get(terminal, "_core");
  if (!hasPaths<XtermCore>(core, PATHS)) throw new Error("Cannot read the screen: need xterm.js 6.1.0-beta.303");
  return core;
}

/** Whether a value has a member at each path, such as `buffers.active.ybase`. */
export function hasPaths<T>(value: unknown, paths: readonly string[]): value is T {
  return paths.every((path) => {
    let at: unknown = value;
    for (const name of path.split(".")) {
      if (typeof at !== "object" || at === null || !Reflect.has(at, name)) return false;
      at = Reflect.get(at, name);
    }
    return true;
  });
}

export function screenFacts(core: XtermCore, { cols, rows, options }: Terminal): ScreenFacts {
  const { active, normal } = core.buffers;
  const { decPrivateModes: modes, isCursorHidden } = core.coreService;
  return {
    cols,
    rows,
    // x may be past the last column while the cursor waits there for a character that wraps.
    cursor: { x: Math.min(active.x, cols - 1), y: active.y, visible: !isCursorHidden },
    alternate: active !== normal,
    title: core._inputHandler._windowTitle,
    modes: {
      bracketedPaste: modes.bracketedPasteMode,
      applicationCursor: modes.applicationCursorKeys,
      applicationKeypad: modes.applicationKeypad,
      newLine: options.convertEol === true,
      mouse: core.mouseStateService.activeProtocol !== "NONE",
    },
  };
}

/** The text of `count` lines of the buffer, from line `from`. */
export function textsOf(buffer: XtermBuffer, from: number, count: number, cols: number): string[] {
  return Array.from({ length: Math.max(0, count) }, (_, row) => textOf(buffer.lines.get(from + row), cols));
}

function textOf(line: XtermLine | undefined, cols: number): string {
  if (line === undefined) return "";
  let text = "";
  for (let column = 0; column < cols; column += Math.max(1, line.getWidth(column))) {
    text += line.hasContent(column) === 0 ? " " : line.getString(column);
  }
  return text.replace(/ +$/, "");
}

/** The styled runs of each visible line. */
export function visibleRuns({ lines, ybase }: XtermBuffer, { cols, rows }: Terminal): StyleRun[][] {
  return Array.from({ length: rows }, (_, row) => runsOf(lines.get(ybase + row), cols));
}

function runsOf(line: XtermLine | undefined, cols: number): StyleRun[] {
  const runs: StyleRun[] = [];
  if (line === undefined) return runs;
  let last: { key: string; run: StyleRun } | undefined;
  for (let column = 0; column < cols; column += 1) {
    const style = styleOf(line.getFg(column), line.getBg(column));
    const key = JSON.stringify(style);
    if (last !== undefined && last.key === key) {
      last.run = { ...last.run, cols: last.run.cols + 1 };
      continue;
    }
    if (last !== undefined && last.key !== "{}") runs.push(last.run);
    last = { key, run: { x: column, cols: 1, ...style } };
  }
  if (last !== undefined && last.key !== "{}") runs.push(last.run);
  return runs;
}

type Style = Omit<StyleRun, "x" | "cols">;

function styleOf(fg: number, bg: number): Style {
  const style: { -readonly [name in keyof Style]: Style[name] } = {};
  const [fgColor, bgColor] = [colorOf(fg), colorOf(bg)];
  if (fgColor !== undefined) style.fg = fgColor;
  if (bgColor !== undefined) style.bg = bgColor;
  for (const [bit, name] of FG_FLAGS) if ((fg & bit) !== 0) style[name] = true;
  for (const [bit, name] of BG_FLAGS) if ((bg & bit) !== 0) style[name] = true;
  return style;
}

function colorOf(packed: number): number | string | undefined {
  const mode = packed & COLOR_MODE;
  if (mode === 0) return undefined;
  if (mode !== COLOR_RGB) return packed & 255;
  return `#${(packed & 0xffffff).toString(16).padStart(6, "0")}`;
}
