// Fixes faults of xterm.js 6.1 where this project uses it: in the bridge's emulator and on the page. Knows only the internals
// that it calls, and works with any build.

/** The members used of a terminal of `@xterm/xterm` or `@xterm/headless`. */
export type XtermTerminal = {
  readonly cols: number;
  readonly rows: number;
  /** Every scroll visits each marker. */
  readonly markers: readonly unknown[];
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
  parse(data: string | Uint8Array, promiseResult?: boolean): unknown;
  readonly _charsetService: { readonly _charsets: readonly unknown[] };
};

/**
 * A cursor that xterm.js saves leaves out the character sets that were never designated, so that restoring it would not end line
 * drawing: makes it save all four. And see {@link resizeWithoutParsing}.
 * @throws {Error} If the terminal is not the version that this was written for.
 */
export function mendFaults(terminal: XtermTerminal): void {
  const { _charsetService: sets } = inputHandlerOf(terminal);
  Object.defineProperty(sets, "charsets", { get: () => [0, 1, 2, 3].map((level) => sets._charsets[level]) });
  resizeWithoutParsing(terminal);
}

/**
 * A change of size in xterm.js 6.1 first parses what waits, and once more what was just parsed. For who changes the size between
 * writes, so that nothing needs to be parsed first. Older versions don't do it.
 */
export function resizeWithoutParsing(terminal: object): void {
  const { _core: core } = terminal as { _core?: { _writeBuffer?: { flushSync?: () => void } } };
  if (core?._writeBuffer?.flushSync !== undefined) core._writeBuffer.flushSync = () => undefined;
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
  if (input?.parse === undefined || input._charsetService?._charsets === undefined)
    throw new Error("Cannot mend the terminal: need xterm.js 6.1.0-beta.303");
  return input as InputHandler;
}
