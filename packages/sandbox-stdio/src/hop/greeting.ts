// The bridge's greeting: what the session object needs to know of the process, its log and its clients.

import { knownOf } from "../session/client-record.ts";
import type { ProcessSession } from "../session/process-session.ts";
import { INNER_PROTOCOL } from "../wire/constants.ts";
import { defined } from "../wire/fields.ts";
import type { InnerMessage } from "../wire/inner-messages.ts";

/** The greeting's facts about the process that the session does not hold. */
export type ProcessFacts = {
  readonly cmd: readonly string[];
  readonly createdAt: string;
  /** Whether the bridge can wake a parked object. Absent: no. */
  readonly calls?: boolean;
  /** Date.now() of the last output. Absent if there was none. */
  readonly lastOutputMs?: number;
};

/** Limits of a command in a greeting, which has a limit as a whole. */
const MAX_GREETED_COMMAND = 200_000;
const MAX_GREETED_WORDS = 2048;

/** @param offset Where output continues. @param isMarked Whether the shell has marked any commands. */
export function greetingOf(
  session: ProcessSession,
  process: ProcessFacts,
  offset: number,
  isMarked: boolean,
): InnerMessage {
  const { log, facts, keyboard, creator } = session;
  const { incarnation, tty, mode, delivery, inputWindow, logBytes } = facts;
  const { cols, rows } = log.sizeAt(offset);
  return {
    type: "hello",
    protocol: INNER_PROTOCOL,
    incarnation,
    tty,
    mode,
    delivery,
    cols,
    rows,
    offset,
    live: log.endOffset,
    holder: keyboard.holder,
    creator,
    ...defined({ inputWindow, logBytes }),
    ...process,
    cmd: greetedCommand(process.cmd),
    // Directly connected clients do not belong to the Durable Object.
    clients: [...session.clients].filter((client) => client.peer === undefined).map(knownOf),
    gone: [...session.gone],
    ...defined({
      hasExited: session.exit !== undefined || undefined,
      marked: isMarked || undefined,
      title: session.title || undefined,
    }),
  };
}

/** As many words as fit. A caller that started a longer command knows it. */
function greetedCommand(cmd: readonly string[]): readonly string[] {
  let left = MAX_GREETED_COMMAND;
  const fitting = cmd.findIndex((word) => {
    left -= word.length;
    return left < 0;
  });
  return cmd.slice(0, Math.min(fitting < 0 ? cmd.length : Math.max(1, fitting), MAX_GREETED_WORDS));
}
