// The keys at a screen that is drawn over and over: q ends it, and those that send a signal do what they do elsewhere.

import { isIgnoredFromStart } from "../base/ignored-signals.ts";
import { EXIT, exitWith, type Outcome } from "../base/outcome.ts";
import { RawTerminal, type TerminalStreams } from "../base/tty.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;
const KEYS: Readonly<Record<string, Outcome>> = {
  q: exitWith(EXIT.ok),
  Q: exitWith(EXIT.ok),
  "\x03": { kind: "signal", signal: "SIGINT" },
  "\x1c": { kind: "signal", signal: "SIGQUIT" },
};
const SUSPEND = "\x1a";

/** The work's outcome, or that of a key or a signal before its end. In between, a line ends with CR and LF. */
export async function untilKey(streams: TerminalStreams, work: () => Promise<Outcome>): Promise<Outcome> {
  const terminal = new RawTerminal(streams, () => "");
  let end: (outcome: Outcome) => void = () => undefined;
  const ended = new Promise<Outcome>((resolve) => {
    end = resolve;
  });
  const take = (bytes: Buffer) => {
    for (const key of bytes.toString("latin1")) {
      const outcome = KEYS[key];
      if (outcome !== undefined) end(outcome);
      else if (key === SUSPEND) terminal.suspend();
    }
  };
  const heed = (signal: NodeJS.Signals) => end({ kind: "signal", signal });
  const heeded = SIGNALS.filter((signal) => !isIgnoredFromStart(signal, process.env));
  for (const signal of heeded) process.on(signal, heed);
  terminal.enter();
  streams.input.on("data", take);
  try {
    return await Promise.race([work(), ended]);
  } finally {
    streams.input.off("data", take).pause();
    terminal.leave();
    for (const signal of heeded) process.off(signal, heed);
  }
}
