// Fixes faults of xterm.js 6.1 where this project uses it: in the bridge's emulator and on the page. Knows only the internals
// that it calls, and works with any build.

/** The members used of a terminal of `@xterm/xterm` or `@xterm/headless`. */
export type XtermTerminal = {
  readonly cols: number;
  readonly rows: number;
  /** Every scroll visits each marker. */
  readonly markers: readonly unknown[];
  readonly buffer: { readonly active: { readonly cursorX: number; readonly cursorY: number } };
  readonly parser: {
    registerCsiHandler(
      id: { readonly prefix?: string; readonly final: string },
      handler: (params: readonly (number | number[])[]) => boolean,
    ): unknown;
  };
};

/** Options of every terminal that draws a session: what a program may switch on, and DECSET 12, which 6.1 ignores by itself. */
export const XTERM_OPTIONS = {
  vtExtensions: { kittyKeyboard: true, win32InputMode: true },
  quirks: { allowSetCursorBlink: true },
} as const;

type InputHandler = {
  eraseInDisplay(parameters: { readonly params: readonly number[] }, isSelective: boolean): boolean;
  parse(data: string | Uint8Array, promiseResult?: boolean): unknown;
  readonly _charsetService: { readonly _charsets: readonly unknown[] };
};

/**
 * Works around two faults of xterm.js. Erasing up to the cursor (ED 1) throws if that is the last cell and no line follows, and later
 * writes are never parsed: erases the whole screen instead, which is the same. And a saved cursor leaves out the character sets that
 * were never designated, so that restoring it does not end line drawing: saves all four.
 * @throws {Error} If the terminal is not the version that this was written for.
 */
export function mendFaults(terminal: XtermTerminal): void {
  const input = inputHandlerOf(terminal);
  const { _charsetService: sets } = input;
  Object.defineProperty(sets, "charsets", { get: () => [0, 1, 2, 3].map((level) => sets._charsets[level]) });
  const mend = (isSelective: boolean) => (params: readonly (number | number[])[]) => {
    if (params[0] !== 1) return false;
    const { cursorX, cursorY } = terminal.buffer.active;
    const isAll = cursorY === terminal.rows - 1 && cursorX >= terminal.cols - 1;
    return isAll && input.eraseInDisplay({ params: [2] }, isSelective);
  };
  terminal.parser.registerCsiHandler({ final: "J" }, mend(false));
  terminal.parser.registerCsiHandler({ prefix: "?", final: "J" }, mend(true));
}

/**
 * Keeps an exception during a write from blocking the queue of write() for good: calls `failed`, drops the rest of that write,
 * and parses the next one.
 * @throws {Error} As {@link mendFaults}.
 */
export function parseOnAfterFaults(terminal: XtermTerminal, failed: (error: unknown) => void): void {
  const input = inputHandlerOf(terminal);
  const parse = input.parse.bind(input);
  input.parse = (data, promiseResult) => {
    try {
      return parse(data, promiseResult);
    } catch (error) {
      failed(error);
      return undefined;
    }
  };
}

/** @throws {Error} If the terminal is not the version that this was written for. */
export function inputHandlerOf(terminal: XtermTerminal): InputHandler {
  const { _core: core } = terminal as { _core?: { _inputHandler?: Partial<InputHandler> } };
  const input = core?._inputHandler;
  if (
    input?.eraseInDisplay === undefined ||
    input.parse === undefined ||
    input._charsetService?._charsets === undefined
  )
    throw new Error("Cannot mend the terminal: need xterm.js 6.1.0-beta.303");
  return input as InputHandler;
}
