// Has a terminal go on parsing in a page out of sight. xterm.js parses in timers, which a browser runs once a second there:
// output would come at the pace of that, and so would the process.

import type { Terminal } from "@xterm/xterm";

type WriteBuffer = {
  write: (...args: unknown[]) => unknown;
  _innerWrite: (...args: unknown[]) => unknown;
  /** Parses; where it takes long, answers with a promise, behind which it goes on. */
  _action: (...args: unknown[]) => Promise<boolean> | undefined;
};

/** @throws {Error} Where the terminal is not the version that this was written for. */
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

/** A promise of which xterm.js uses `catch(…).then(…)`: the last of these sets a timer. */
function goingOnPromptly(result: Promise<boolean>): Promise<boolean> {
  const failed = (onError: (error: unknown) => Promise<boolean>) => ({
    // biome-ignore lint/suspicious/noThenProperty: stands for the promise that xterm.js would get
    then: (goOn: (result: boolean) => void) => result.catch(onError).then((it) => withPromptTimers(() => goOn(it))),
  });
  return Object.assign(Promise.resolve(true), { catch: failed }) as Promise<boolean>;
}

/** A timer without a delay that is set while `act` runs is a message instead: no browser holds that back. */
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
