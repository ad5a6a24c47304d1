// ^C and its like during `run`: passed on to a process that is ours, else they end this program, and the session is named.

import type { SandboxSession } from "sandbox-stdio/client";
import { isIgnoredFromStart } from "../base/ignored-signals.ts";
import type { Outcome } from "../base/outcome.ts";
import { aside } from "../base/print.ts";
import { SignalRelay } from "../base/signals.ts";

/** A signal that could not be passed on by then ends this program. */
const SIGNAL_MS = 4_000;

/** @param isOurs Whether the process was started for this run. @returns What the work comes to, or which signal ended us. */
export async function whilePassingSignals<T extends object>(
  session: SandboxSession,
  isOurs: boolean,
  work: () => Promise<T>,
): Promise<T | Extract<Outcome, { kind: "signal" }>> {
  let end: (signal: NodeJS.Signals) => void = () => undefined;
  const signalled = new Promise<NodeJS.Signals>((resolve) => {
    end = resolve;
  });
  const relay = new SignalRelay({
    isForRemote: () => isOurs,
    isAllowed: () => true,
    send: (signal) => {
      session.signal({ signal }, { signal: AbortSignal.timeout(SIGNAL_MS) }).catch(() => end(signal as NodeJS.Signals));
      return true;
    },
    end,
    isIgnored: (signal) => isIgnoredFromStart(signal, process.env),
  });
  relay.listen();
  try {
    const ended = await Promise.race([work(), signalled]);
    if (typeof ended !== "string") return ended;
    aside(`it may still run, in session ${session.name}`);
    return { kind: "signal", signal: ended };
  } finally {
    relay.close();
  }
}
