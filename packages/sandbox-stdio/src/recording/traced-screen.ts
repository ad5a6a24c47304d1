// The screen of a recorded terminal, as redaction needs it (G1): the character of each cell, and the bytes that wrote it. Moves text as
// xterm.js does; knows neither colours nor scrollback. Reports each line before any of its text is lost.

/** Text, and the place of each UTF-16 unit: eight times the offset of its character plus the character's bytes; 0 for none. */
export type PlacedText = { readonly text: string; readonly places: readonly number[] };
type Size = { readonly cols: number; readonly rows: number };

/** The second half of a wide character, which is no character. 0: nothing was written. */
const REST = 0xffff;
const TAB = 8;
const MAX_COUNT = 0xffff;
/** Characters that may be looked at again for each that comes, and how many of them can be saved up: bounds the work. */
const ALLOWANCE = 256;
const MAX_ALLOWANCE = 1_000_000;
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4c6\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6b\uff01-\uff60\uffe0-\uffe6\u{1f300}-\u{1f320}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
const NO_WIDTH = /[\p{Mn}\p{Me}\p{Cf}]/u;

class Row {
  readonly codes: Uint32Array;
  readonly places: Float64Array;
  /** The row above is full, and its line goes on here. */
  continues = false;
  /** Text was written since its line was reported. */
  isNew = false;
  /** Some of its characters have two UTF-16 units. */
  hasAstral = false;

  constructor(cols: number) {
    this.codes = new Uint32Array(cols);
    this.places = new Float64Array(cols);
  }
}

type Saved = readonly [x: number, y: number, wraps: boolean];
type Buffer = { lines: Row[]; top: number; bottom: number; saved: Saved };
const SAME: Readonly<Record<string, string>> = { a: "C", f: "H", "`": "G" };
/** Finals of CSI before which a cursor behind the last column returns to it. */
const RESTRICTED = "@ABCDEFGHLMPX`adef";

export class TracedScreen {
  /** Takes a line, with all its rows. */
  readonly #report: (line: PlacedText) => void;
  readonly #isNewLine: boolean;
  #cols = 80;
  #rows = 24;
  #x = 0;
  #y = 0;
  #main = this.#blank();
  #alternate = this.#blank();
  #buffer = this.#main;
  #inserts = false;
  #wraps = true;
  #allowance = MAX_ALLOWANCE;
  /** The last character replaced another, and the next one follows it: of that line is not reported again. */
  #replaces = false;
  #last: readonly [code: number, place: number] | undefined;
  /** What a CSI does, by its final byte. `n` is its first parameter, at least 1. */
  readonly #effects: Readonly<Record<string, (n: number, second: number, first: number) => void>> = {
    "@": (n) => this.#shift(n),
    A: (n) => this.#goTo(this.#x, this.#vertically(-n)),
    B: (n) => this.#goTo(this.#x, this.#vertically(n)),
    C: (n) => this.#goTo(this.#x + n, this.#y),
    D: (n) => this.#goTo(this.#x - n, this.#y),
    E: (n) => this.#goTo(0, this.#vertically(n)),
    F: (n) => this.#goTo(0, this.#vertically(-n)),
    G: (n) => this.#goTo(n - 1, this.#y),
    H: (n, second) => this.#goTo(Math.max(1, second) - 1, n - 1),
    I: (n) => this.#tab(n),
    J: (_, __, first) => this.#clear(true, first),
    K: (_, __, first) => this.#clear(false, first),
    L: (n) => this.#moveLines(-n),
    M: (n) => this.#moveLines(n),
    P: (n) => this.#shift(-n),
    S: (n) => this.#scroll(this.#buffer.top, n),
    T: (n) => this.#scroll(this.#buffer.top, -n),
    X: (n) => this.#erase(this.#y, this.#x, this.#x + n),
    Z: (n) => this.#tab(-n),
    d: (n) => this.#goTo(this.#x, n - 1),
    e: (n) => this.#goTo(this.#x, this.#y + n),
    r: (n, second) => this.#setMargins(n - 1, Math.min(second || this.#rows, this.#rows) - 1),
    s: () => this.escape("7"),
    u: () => this.escape("8"),
  };

  /** @param isNewLine Whether a line feed also returns to the left edge, as on pipes. */
  constructor(report: (line: PlacedText) => void, isNewLine: boolean) {
    this.#report = report;
    this.#isNewLine = isNewLine;
  }

  /** The cursor's line, and its part before the cursor. */
  get cursorTexts(): PlacedText[] {
    const [from, to] = this.#span(this.#y);
    const line = this.#buffer.lines.slice(from, to);
    return [textOf(line), textOf(line, (this.#y - from) * this.#cols + this.#x)];
  }

  /** Begins an empty screen: programs draw again what is on theirs. */
  resize({ cols, rows }: Size): void {
    if (cols === this.#cols && rows === this.#rows) return;
    this.settle();
    [this.#cols, this.#rows] = [cols, rows];
    const isMain = this.#buffer === this.#main;
    [this.#main, this.#alternate] = [this.#blank(), this.#blank()];
    this.#buffer = isMain ? this.#main : this.#alternate;
    this.#restrict();
  }

  /** Reports all lines with new text. */
  settle(): void {
    this.#allowance = Math.max(this.#allowance, this.#cols * this.#rows);
    this.#losing(0, this.#rows);
  }

  /** Takes characters of one byte each. */
  print(text: string, offset: number): void {
    for (let i = 0; i < text.length; ) {
      const { codes, places } = this.#row;
      const [x, first] = [this.#x, i];
      // Quickly onto blank cells; the last one, and what replaces others, by itself.
      const end = this.#inserts ? 0 : Math.min(text.length, i + this.#cols - x) - 1;
      for (; i < end && codes[x + i - first] === 0; i += 1) {
        codes[x + i - first] = text.charCodeAt(i);
        places[x + i - first] = placeOf(offset + i, 1);
      }
      this.#x += i - first;
      if (i > first) {
        this.#replaces = false;
        this.#row.isNew = true;
      }
      this.#allowance += ALLOWANCE * (i - first);
      this.put(text.charCodeAt(i), placeOf(offset + i, 1));
      i += 1;
    }
  }

  put(code: number, place: number): void {
    const width = widthOf(code);
    if (width === 0) return;
    this.#goOn([code, place]);
    if (this.#x + width > this.#cols) {
      if (this.#wraps) {
        this.#feed();
        this.#x = 0;
        this.#row.continues = true;
        this.#replaces = false;
      } else this.#x = Math.max(0, this.#cols - width);
    }
    const [row, x] = [this.#row, this.#x];
    if (this.#inserts) this.#shift(width);
    const replaces = row.codes[x] !== 0 || (width > 1 && row.codes[x + 1] !== 0);
    if (replaces && !this.#replaces) this.#losing(this.#y);
    this.#replaces = replaces;
    row.codes.fill(REST, x, x + width);
    row.places.fill(place, x, x + width);
    row.codes[x] = code;
    row.isNew = true;
    row.hasAstral ||= code > 0xffff;
    this.#x += width;
  }

  control(byte: number): void {
    this.#goOn();
    if (byte === 0x0d) this.#x = 0;
    else if (byte === 0x09) this.#tab(1);
    else if (byte === 0x08) {
      this.#restrict();
      this.#x = Math.max(0, this.#x - 1);
    } else if (byte >= 0x0a && byte <= 0x0c) {
      this.#feed();
      this.#x = this.#isNewLine ? 0 : Math.min(this.#x, this.#cols - 1);
    }
  }

  /** @param final The character after ESC. */
  escape(final: string): void {
    this.#goOn();
    if (final === "7") this.#save();
    else if (final === "8") this.#restore();
    else if (final === "D" || final === "E") {
      this.#feed();
      this.#x = final === "E" ? 0 : Math.min(this.#x, this.#cols - 1);
    } else if (final === "M") {
      this.#restrict();
      if (this.#y === this.#buffer.top) this.#scroll(this.#y, -1);
      else this.#y = Math.max(0, this.#y - 1);
    } else if (final === "c") {
      this.settle();
      [this.#main, this.#alternate] = [this.#blank(), this.#blank()];
      this.#buffer = this.#main;
      [this.#x, this.#y] = [0, 0];
      [this.#inserts, this.#wraps] = [false, true];
    }
  }

  /** @param text What follows CSI. */
  csi(text: string): void {
    const [, marker = "", list = "", final = ""] = /^([<-?]?)([\d;:]*)([^\d;:]*)$/.exec(text) ?? [];
    const params = list.split(";").map((param) => Math.min(Number.parseInt(param, 10) || 0, MAX_COUNT));
    const last = this.#last;
    if (final !== "m") this.#goOn();
    if (final === "h" || final === "l") for (const mode of params) this.#set(`${marker}${mode}`, final === "h");
    else if (marker === "" || (marker === "?" && (final === "J" || final === "K"))) {
      const [first = 0, second = 0] = params;
      const count = Math.max(1, first);
      if (RESTRICTED.includes(final)) this.#restrict();
      if (final === "b" && last !== undefined) for (let i = 0; i < count; i += 1) this.put(...last);
      else this.#effects[SAME[final] ?? final]?.(count, second, first);
      this.#last = undefined;
    }
  }

  #clear(isScreen: boolean, part: number): void {
    const [y, cols] = [this.#y, this.#cols];
    // Where the rest of its line is erased, a wrapped line goes on: so zsh wraps what is typed.
    if (part === 0) this.#erase(y, this.#x, cols);
    else if (part === 1) this.#erase(y, 0, Math.min(this.#x, cols - 1) + 1);
    else if (part > 2) return;
    const [first, end] = [part === 0 ? y + 1 : 0, part === 1 ? y : this.#rows];
    for (let at = isScreen ? first : y; at < (isScreen ? end : y + Number(part === 2)); at += 1) {
      this.#erase(at, 0, cols);
      (this.#buffer.lines[at] as Row).continues = false;
    }
  }

  #set(mode: string, isOn: boolean): void {
    if (mode === "4") this.#inserts = isOn;
    else if (mode === "?7") this.#wraps = isOn;
    else if (mode === "?47" || mode === "?1047" || mode === "?1049") {
      this.settle();
      if (isOn && mode === "?1049") this.#save();
      if (!isOn) this.#buffer = this.#main;
      else if (this.#buffer === this.#main) {
        // The alternate screen begins empty; only its saved cursor is kept.
        this.#alternate = { ...this.#blank(), saved: this.#alternate.saved };
        this.#buffer = this.#alternate;
      }
      if (!isOn && mode === "?1049") this.#restore();
    }
  }

  #setMargins(top: number, bottom: number): void {
    if (bottom <= top) return;
    Object.assign(this.#buffer, { top, bottom });
    this.#goTo(0, 0);
  }

  get #row(): Row {
    return this.#buffer.lines[this.#y] as Row;
  }

  #blank(): Buffer {
    const lines = Array.from({ length: this.#rows }, () => new Row(this.#cols));
    return { lines, top: 0, bottom: this.#rows - 1, saved: [0, 0, true] };
  }

  #goOn(last?: readonly [code: number, place: number]): void {
    this.#last = last;
    this.#replaces &&= last !== undefined;
    this.#allowance = Math.min(this.#allowance + ALLOWANCE, MAX_ALLOWANCE);
  }

  #save(): void {
    this.#buffer.saved = [this.#x, this.#y, this.#wraps];
  }

  #restore(): void {
    [this.#x, this.#y, this.#wraps] = this.#buffer.saved;
    this.#restrict();
  }

  /** So far, but not over a margin. */
  #vertically(by: number): number {
    const { top, bottom } = this.#buffer;
    return Math.max(this.#y < top ? 0 : top, Math.min(this.#y + by, this.#y > bottom ? this.#rows : bottom));
  }

  #goTo(x: number, y: number): void {
    [this.#x, this.#y] = [x, y];
    this.#restrict();
  }

  #restrict(): void {
    this.#x = Math.max(0, Math.min(this.#x, this.#cols - 1));
    this.#y = Math.max(0, Math.min(this.#y, this.#rows - 1));
  }

  #tab(count: number): void {
    if (this.#x >= this.#cols) return;
    const stop = count > 0 ? Math.floor(this.#x / TAB) : Math.ceil(this.#x / TAB);
    this.#x = Math.max(0, Math.min((stop + count) * TAB, this.#cols - 1));
  }

  #feed(): void {
    if (this.#y === this.#buffer.bottom) this.#scroll(this.#buffer.top, 1);
    else this.#y = Math.min(this.#y + 1, this.#rows - 1);
  }

  #moveLines(by: number): void {
    if (this.#y < this.#buffer.top || this.#y > this.#buffer.bottom) return;
    this.#scroll(this.#y, by);
    this.#x = 0;
  }

  /** Moves the rows from `top` to the lower margin up, or down. */
  #scroll(top: number, by: number): void {
    const { lines, bottom } = this.#buffer;
    const count = Math.min(Math.abs(by), bottom - top + 1);
    const first = by > 0 ? top : bottom - count + 1;
    this.#losing(first, first + count);
    // A line that crosses a margin is torn there, and another may take its place.
    if (lines[top]?.continues) this.#losing(top);
    if (lines[bottom + 1]?.continues) this.#losing(bottom);
    for (let i = 0; i < count; i += 1) {
      const row = lines[by > 0 ? top : bottom] as Row;
      if (by > 0) lines.copyWithin(top, top + 1, bottom + 1);
      else lines.copyWithin(top + 1, top, bottom);
      lines[by > 0 ? bottom : top] = row;
      row.codes.fill(0);
      [row.continues, row.isNew] = [false, false];
    }
    for (const y of [top, bottom + 1]) if (y > 0 && lines[y]?.continues) (lines[y - 1] as Row).isNew = true;
  }

  /** Moves the cells from the cursor on; what leaves the row is lost. */
  #shift(columns: number): void {
    this.#losing(this.#y);
    const room = this.#cols - this.#x;
    const by = Math.max(-room, Math.min(columns, room));
    const row = this.#row;
    for (const cells of [row.codes, row.places])
      cells.copyWithin(this.#x + Math.max(0, by), this.#x + Math.max(0, -by));
    if (by > 0) row.codes.fill(0, this.#x, this.#x + by);
    else row.codes.fill(0, this.#cols + by);
    row.isNew = true;
  }

  #erase(y: number, from: number, to: number): void {
    this.#losing(y);
    this.#buffer.lines[y]?.codes.fill(0, from, to);
  }

  /** The rows of the line that a row is in. */
  #span(y: number): readonly [from: number, to: number] {
    const { lines } = this.#buffer;
    let [from, to] = [y, y + 1];
    while (from > 0 && lines[from]?.continues === true) from -= 1;
    while (lines[to]?.continues === true) to += 1;
    return [from, to];
  }

  #losing(first: number, end = first + 1): void {
    for (let y = first; y < end; y += 1) {
      const { lines } = this.#buffer;
      if (!lines[y]?.isNew && !lines[y]?.continues && !lines[y + 1]?.continues) continue;
      const line = lines.slice(...this.#span(y));
      if (!line.some(({ isNew }) => isNew)) continue;
      if (this.#allowance < 0) return;
      for (const row of line) row.isNew = false;
      const text = textOf(line);
      this.#allowance -= text.text.length;
      this.#report(text);
    }
  }
}

export function placeOf(offset: number, bytes: number): number {
  return 8 * offset + bytes;
}

/** The text of rows that were wrapped, without what was never written behind it. @param cells As many of their cells. */
function textOf(rows: readonly Row[], cells = Number.POSITIVE_INFINITY): PlacedText {
  const counts = rows.map(({ codes }, i) => Math.max(0, Math.min(cells - i * codes.length, codes.length)));
  const parts = rows.map(({ codes, hasAstral }, i) => {
    let end = counts[i] ?? 0;
    if (i === rows.length - 1) while (end > 0 && codes[end - 1] === 0) end -= 1;
    return (hasAstral ? String.fromCodePoint : String.fromCharCode).apply(null, codes.subarray(0, end) as never);
  });
  const text = parts.join("").replaceAll("\0", " ").replaceAll("\uffff", "");
  return {
    text,
    get places() {
      return rows.flatMap(({ codes, places }, i) =>
        Array.from(codes.subarray(0, counts[i])).flatMap((code, x) => {
          if (code === REST) return [];
          const place = code === 0 ? 0 : (places[x] ?? 0);
          return code > 0xffff ? [place, place] : [place];
        }),
      );
    },
  };
}

/** As of Unicode 11, but for rare characters. */
function widthOf(code: number): 0 | 1 | 2 {
  if (code < 0x300) return 1;
  const character = String.fromCodePoint(code);
  if (NO_WIDTH.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}
