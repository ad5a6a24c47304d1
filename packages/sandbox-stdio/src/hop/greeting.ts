// The bridge's greeting: the facts that the session object needs about the process, its log and its clients.

import { knownOf } from "../session/client-record.ts";
import type { ProcessSession } from "../session/process-session.ts";
import { INNER_PROTOCOL } from "../wire/constants.ts";
import { defined } from "../wire/fields.ts";
import type { InnerMessage } from "../wire/inner-messages.ts";

/** The greeting's facts about the process beyond those that the session knows. */
export type ProcessFacts = {
  readonly cmd: readonly string[];
  readonly createdAt: string;
  /** Whether the bridge calls a session object that has parked. Absent: it can't. */
  readonly calls?: boolean;
  /** When its last output came, as Date.now(). Absent if there was none. */
  readonly lastOutputMs?: number;
};

/** Characters of a command's words in a greeting, which has other things to say. */
const MAX_GREETED_COMMAND = 200_000;
const MAX_GREETED_WORDS = 2048;

/** @param offset Where output goes on. @param isMarked Whether a shell has marked its commands so far. */
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
    ...(session.exit === undefined ? undefined : { hasExited: true }),
    // Clients with a connection of their own to the bridge are none of the Durable Object's.
    clients: [...session.clients].filter((client) => client.peer === undefined).map(knownOf),
    gone: [...session.gone],
    ...defined({ marked: isMarked || undefined, title: session.title || undefined }),
  };
}

/** As many of its words as fit. A caller that has ordered a longer one knows it. */
function greetedCommand(cmd: readonly string[]): readonly string[] {
  let left = MAX_GREETED_COMMAND;
  const fitting = cmd.findIndex((word) => {
    left -= word.length;
    return left < 0;
  });
  return cmd.slice(0, Math.min(fitting < 0 ? cmd.length : Math.max(1, fitting), MAX_GREETED_WORDS));
}
