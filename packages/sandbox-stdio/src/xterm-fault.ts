// A fault of xterm.js 6.0, mended wherever this project runs it: in the bridge's emulator and on the page. Knows of the
// emulator's own code what it has to call, and takes whichever build of it there is.

/** What is used of a terminal of `@xterm/xterm` or `@xterm/headless`. */
export type XtermTerminal = {
  readonly cols: number;
  readonly rows: number;
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
};

/**
 * Erasing up to the cursor (ED 1) throws in xterm.js where that is the last cell and no line follows, and what is written
 * afterwards is never parsed. From here on all is erased there, which is the same.
 * @throws {Error} Where the terminal is not the version that this was written for.
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

function inputHandlerOf(terminal: XtermTerminal): InputHandler {
  const { _core: core } = terminal as { _core?: { _inputHandler?: Partial<InputHandler> } };
  const input = core?._inputHandler;
  if (input?.eraseInDisplay === undefined) throw new Error("Cannot mend the terminal: need xterm.js 6.0.0");
  return input as InputHandler;
}
