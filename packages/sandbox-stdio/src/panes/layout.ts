// Parses tmux's description of a window's layout into a tree: `8205,80x24,0,0{40x24,0,0,0,39x24,41,0,1}`.

export type Cell = { readonly cols: number; readonly rows: number; readonly left: number; readonly top: number };

export type Layout =
  | (Cell & { readonly kind: "pane"; readonly pane: string })
  /** `row`: side by side, one column apart; `column`: stacked, one row apart. */
  | (Cell & { readonly kind: "row" | "column"; readonly parts: readonly Layout[] });

/** Deepest layout accepted. tmux stops far sooner, for lack of room. */
const MAX_DEPTH = 500;

/** @returns undefined if the text is cut, has another checksum, or another format. */
export function parseLayout(text: string): Layout | undefined {
  const checksum = /^([0-9a-f]{4}),/.exec(text)?.[1];
  if (checksum === undefined || Number.parseInt(checksum, 16) !== layoutChecksum(text.slice(5))) return undefined;
  const reader = new Reader(text, 5);
  const layout = reader.layout(0);
  return reader.at === text.length ? layout : undefined;
}

/** tmux's checksum: 16 bits, rotated by one before each character. */
export function layoutChecksum(body: string): number {
  let sum = 0;
  for (let i = 0; i < body.length; i++) sum = ((sum >> 1) + ((sum & 1) << 15) + body.charCodeAt(i)) & 0xffff;
  return sum;
}

/** The panes of a window, in tmux's order. */
export function panesOf(layout: Layout): readonly (Cell & { readonly pane: string })[] {
  return layout.kind === "pane" ? [layout] : layout.parts.flatMap(panesOf);
}

const CELL = /(\d{1,5})x(\d{1,5}),(\d{1,5}),(\d{1,5})/y;
const PANE = /,(\d{1,9})/y;

class Reader {
  at: number;
  readonly #text: string;

  constructor(text: string, at: number) {
    this.#text = text;
    this.at = at;
  }

  layout(depth: number): Layout | undefined {
    const found = this.#match(CELL);
    if (found === undefined || depth > MAX_DEPTH) return undefined;
    const [cols = 0, rows = 0, left = 0, top = 0] = found.slice(1).map(Number);
    const cell = { cols, rows, left, top };
    const open = this.#text[this.at];
    if (open === "{") return this.#parts({ ...cell, kind: "row" }, "}", depth);
    if (open === "[") return this.#parts({ ...cell, kind: "column" }, "]", depth);
    const pane = this.#match(PANE)?.[1];
    return pane === undefined ? undefined : { ...cell, kind: "pane", pane: `%${pane}` };
  }

  #parts(cell: Cell & { readonly kind: "row" | "column" }, close: string, depth: number): Layout | undefined {
    const parts: Layout[] = [];
    do {
      this.at++;
      const part = this.layout(depth + 1);
      if (part === undefined) return undefined;
      parts.push(part);
    } while (this.#text[this.at] === ",");
    return this.#text[this.at++] === close ? { ...cell, parts } : undefined;
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.#text) ?? undefined;
    if (found !== undefined) this.at = pattern.lastIndex;
    return found;
  }
}
