// The record of a process that has just been started, by a client that attaches or by a program's call.

import { hash } from "node:crypto";
import { defined, type ProcessWish, type SessionFacts } from "sandbox-stdio/core";
import { processIdentity } from "sandbox-stdio/programs";
import type { AttachSpec } from "../attach/attach-spec.ts";
import type { SessionRecord } from "./session-store.ts";

/** The bridge's facts about the process. */
type Told = Pick<SessionFacts, "incarnation" | "tty" | "mode" | "delivery" | "inputWindow" | "logBytes"> & {
  readonly cmd: readonly string[];
  readonly createdAt: string;
  readonly creator: string;
};

/** The owner and the name of the session. */
type Origin = Pick<AttachSpec, "sandboxKey" | "session" | "isTransient"> & {
  readonly pass: Pick<AttachSpec["pass"], "homeKey" | "connection">;
};

type Of = {
  /** The sandbox's readable name. */
  readonly sandbox: string;
  /** The LIFE of the client that started the process, if one did. */
  readonly attemptLife?: string | undefined;
  readonly isUnnamed?: boolean | undefined;
};

export function newRecord(
  told: Told,
  { pass, sandboxKey, session, isTransient }: Origin,
  process: ProcessWish,
  { sandbox, attemptLife, isUnnamed = false }: Of,
): SessionRecord {
  const { incarnation, tty, mode, delivery, cmd, createdAt, creator, inputWindow, logBytes } = told;
  return {
    homeKey: pass.homeKey,
    startedBy: pass.connection,
    sandboxKey,
    facts: {
      ...{ sandbox, session, incarnation, tty, mode, delivery },
      ...defined({ inputWindow, logBytes }),
    },
    cmd,
    createdAt,
    creator,
    offset: 0,
    isTransient,
    endsUnattended: isTransient && process.keep === 0,
    identity: identityDigest(process),
    ...defined({ attemptLife, isUnnamed: (isUnnamed && !tty) || undefined }),
  };
}

/** @param stdin Base64. */
export function inputDigest({
  stdin,
  isStdinEnded,
}: {
  readonly stdin: string;
  readonly isStdinEnded: boolean;
}): string {
  return hash("sha256", `${isStdinEnded ? "ended" : "open"} ${atob(stdin)}`);
}

/** A digest, since variables may be secrets. */
export function identityDigest(process: ProcessWish): string {
  return hash("sha256", processIdentity(process));
}
