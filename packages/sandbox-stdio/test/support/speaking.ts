// A client's connection on the server's side, whose socket keeps what it is given.

import {
  type AttachRequest,
  type Begin,
  type BudgetLimits,
  type ClientRecord,
  type Dialect,
  defined,
  type Frame,
  ServerConnection,
  STDIO,
} from "../../src/index.ts";
import type { SessionCore } from "../../src/session/session-core.ts";
import { type Clock, request, text } from "./fixtures.ts";

type Speaker = Partial<AttachRequest> & {
  dialect?: Dialect;
  limits?: BudgetLimits;
  later?: (ms: number, act: () => void) => void;
};

/** Not attached yet. Speaks stdio.v1, unless said otherwise. */
export function speaking<At extends { readonly session: SessionCore; readonly clock?: Clock }>(
  at: At,
  speaker: Speaker = {},
) {
  const { dialect = STDIO, id = "a", limits, later, ...wish } = speaker;
  const { acknowledges, canResume } = dialect;
  const frames: Frame[] = [];
  const closes: [number, string][] = [];
  const tokens: string[] = [];
  const begins: Begin[] = [];
  const socket = {
    isStuffed: false,
    send: (frame: Frame) => void frames.push(typeof frame === "string" ? frame : frame.slice()),
    close: (code: number, reason: string) => void closes.push([code, reason]),
    isWritable: () => !socket.isStuffed,
  };
  const hooks = {
    auth: (token: string) => tokens.push(token),
    begin: (begin: Begin) => begins.push(begin),
    ...defined({ later }),
  };
  const now = () => at.clock?.ms ?? 0;
  const connection = new ServerConnection(dialect, socket, now(), hooks, limits);
  return {
    at,
    connection,
    socket,
    frames,
    closes,
    tokens,
    begins,
    /** What was sent: texts as they are, bytes by their type and text. */
    get sent(): string[] {
      return frames.map((frame) => (typeof frame === "string" ? frame : `${frame[0]}:${text(frame.subarray(1))}`));
    },
    get closed(): [number, string] | undefined {
      return closes[0];
    },
    /** @throws {Error} If the session does not know it. */
    get client(): ClientRecord {
      const client = at.session.client(id);
      if (client === undefined) throw new Error(`${id} is not on the session`);
      return client;
    },
    attach() {
      connection.attach(at.session, request(id, { acknowledges, canResume, ...wish }));
      return this;
    },
    /** @returns How many of `times` such frames were taken before the connection ended. */
    hear(frame: Frame, times = 1): number {
      for (let i = 0; i < times; i += 1) {
        connection.receive(typeof frame === "string" ? frame : frame.slice(), now());
        if (connection.isEnded) return i;
      }
      return times;
    },
    say: (message: object) => connection.receive(JSON.stringify(message), now()),
    types: () =>
      frames.flatMap((frame) => (typeof frame === "string" ? [(JSON.parse(frame) as { type: string }).type] : [])),
  };
}
