// What a key does to the row with the cursor, in a program that lets people edit a line.

/** Blanks after which the rest of a row does not move with the line: a border, another column. */
const GAP = 2;
const BACKSPACE: readonly string[] = ["\x7f", "\b"];
const LEFT: readonly string[] = ["\x1b[D", "\x1bOD"];
const RIGHT: readonly string[] = ["\x1b[C", "\x1bOC"];
const ARROW_LENGTH = 3;

export type Effect = {
  /** The row's new characters from a column on. */
  readonly column: number;
  readonly characters: readonly string[];
  /** The column of the cursor. */
  readonly cursor: number;
};

export type EditedRow = {
  readonly characters: readonly string[];
  readonly cursor: number;
  /** The first column that was typed; Infinity if none is known. */
  readonly from: number;
  /** Whether typing moves the text behind the cursor. */
  readonly moves: boolean;
};

/** @returns undefined: unknown. */
export function effectOf(key: string, { characters, cursor, from, moves }: EditedRow): Effect | undefined {
  if (cursor >= characters.length - 1) return undefined;
  const end = moves ? endOfLine(characters, cursor) : cursor;
  const rest = characters.slice(cursor, end);
  if (isPlain(key)) {
    return end < characters.length - 1 ? { column: cursor, characters: [key, ...rest], cursor: cursor + 1 } : undefined;
  }
  const isBackspace = BACKSPACE.includes(key);
  if (isBackspace || LEFT.includes(key)) {
    const characters = isBackspace ? [...rest, " "] : [];
    return cursor > from ? { column: cursor - 1, characters, cursor: cursor - 1 } : undefined;
  }
  if (!RIGHT.includes(key)) return undefined;
  return cursor < endOfLine(characters, cursor) ? { column: cursor, characters: [], cursor: cursor + 1 } : undefined;
}

/** Where the text at and behind a column ends. */
export function endOfLine(characters: readonly string[], column: number): number {
  let end = column;
  for (let at = column; at < characters.length && at < end + GAP; at += 1) if (characters[at] !== " ") end = at + 1;
  return end;
}

/** Several keys may come at once. What begins with any other sequence than an arrow's is one key, to the end. */
export function keysOf(text: string): readonly string[] {
  const keys: string[] = [];
  for (let at = 0; at < text.length; at += keys.at(-1)?.length ?? 1) {
    const arrow = text.slice(at, at + ARROW_LENGTH);
    if (text[at] !== "\x1b") keys.push(String.fromCodePoint(text.codePointAt(at) ?? 0));
    else keys.push(LEFT.includes(arrow) || RIGHT.includes(arrow) ? arrow : text.slice(at));
  }
  return keys;
}

export function isPlain(key: string): boolean {
  return /^[\x20-\x7e]$/.test(key);
}

/** Whether the key may have an effect that is known once its place is. */
export function isEditing(key: string): boolean {
  return isPlain(key) || [BACKSPACE, LEFT, RIGHT].some((keys) => keys.includes(key));
}
