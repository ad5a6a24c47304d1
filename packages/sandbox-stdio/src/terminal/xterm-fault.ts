// Faults of xterm.js 6.0, mended where this project runs it: in the bridge's emulator and on the page. Knows only
// those parts of the emulator's own code that it calls, and takes any build of it.

/** The members that are used of a terminal of `@xterm/xterm` or `@xterm/headless`. */
export type XtermTerminal = {
  readonly cols: number;
  readonly rows: number;
  /** Each takes part in every scrolling. */
  readonly markers: readonly unknown[];
  readonly buffer: { readonly active: { readonly cursorX: number; readonly cursorY: number } };
  readonly parser: {
    registerCsiHandler(
      id: { readonly prefix?: string; readonly final: string },
      handler: (params: readonly (number | number[])[]) => boolean,
    ): unknown;
  };
};

type InputHandler = {
  eraseInDisplay(parameters: { readonly params: readonly number[] }, isSelective: boolean): boolean;
  parse(data: string | Uint8Array, promiseResult?: boolean): unknown;
};

/**
 * Erasing up to the cursor (ED 1) throws in xterm.js if that is the last cell and no line follows. Later writes are then
 * never parsed. From here on the whole screen is erased there, which is the same.
 * @throws {Error} If the terminal is not the version that this was written for.
 */
export function mendEraseToCursor(terminal: XtermTerminal): void {
  const input = inputHandlerOf(terminal);
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
 * An exception in the midst of a write would leave the queue of write() stuck for good. From here on `failed` is told of it,
 * the rest of that write is lost, and the next one is parsed.
 * @throws {Error} As {@link mendEraseToCursor}.
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
  if (input?.eraseInDisplay === undefined || input.parse === undefined)
    throw new Error("Cannot mend the terminal: need xterm.js 6.0.0");
  return input as InputHandler;
}
