// Keeps a terminal parsing in a hidden page. xterm.js parses in timers, which browsers run once a second there: output, and with it the
// process, would slow down to that.

import type { Terminal } from "@xterm/xterm";

type WriteBuffer = {
  write: (...args: unknown[]) => unknown;
  _innerWrite: (...args: unknown[]) => unknown;
  /** Parses; if that takes long, returns a promise and continues after it. */
  _action: (...args: unknown[]) => Promise<boolean> | undefined;
};

/** @throws {Error} If the terminal has another version. */
export function parseUnseen(terminal: Terminal): void {
  const buffer = (terminal as unknown as { readonly _core?: { readonly _writeBuffer?: WriteBuffer } })._core
    ?._writeBuffer;
  if (buffer === undefined) throw new Error("Cannot find the terminal's write buffer");
  for (const name of ["write", "_innerWrite"] as const) {
    const act = buffer[name].bind(buffer);
    buffer[name] = (...args) => (document.hidden ? withPromptTimers(() => act(...args)) : act(...args));
  }
  const parse = buffer._action.bind(buffer);
  buffer._action = (...args) => {
    const result = parse(...args);
    return result === undefined || !document.hidden ? result : goingOnPromptly(result);
  };
}

/** A promise for xterm.js's `catch(…).then(…)`, which sets a timer in `then`. */
function goingOnPromptly(result: Promise<boolean>): Promise<boolean> {
  const failed = (onError: (error: unknown) => Promise<boolean>) => ({
    // biome-ignore lint/suspicious/noThenProperty: replaces the promise that xterm.js would get
    then: (goOn: (result: boolean) => void) => result.catch(onError).then((it) => withPromptTimers(() => goOn(it))),
  });
  return Object.assign(Promise.resolve(true), { catch: failed }) as Promise<boolean>;
}

/** Replaces timers without a delay that are set during `act` by messages, which browsers don't throttle. */
function withPromptTimers<T>(act: () => T): T {
  const { setTimeout } = window;
  const prompt = (callback: () => void, ms?: number): unknown => {
    if (ms !== undefined && ms > 0) return Reflect.apply(setTimeout, window, [callback, ms]);
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      callback();
    };
    port2.postMessage(undefined);
    return 0;
  };
  window.setTimeout = prompt as typeof setTimeout;
  try {
    return act();
  } finally {
    window.setTimeout = setTimeout;
  }
}
