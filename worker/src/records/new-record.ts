// The record of a process that has just been started, by a client that attaches or by a program's call.

import { hash } from "node:crypto";
import { type Delivery, defined, type Mode, type ProcessWish } from "sandbox-stdio/core";
import { processIdentity } from "sandbox-stdio/programs";
import type { AttachSpec } from "../attach/attach-spec.ts";
import type { SessionRecord } from "./session-store.ts";

/** The bridge's facts about the process. */
type Told = {
  readonly incarnation: string;
  readonly tty: boolean;
  readonly mode: Mode;
  readonly delivery: Delivery;
  readonly cmd: readonly string[];
  readonly createdAt: string;
  readonly creator: string;
  readonly inputWindow?: number;
  readonly logBytes?: number | undefined;
};

/** The owner and the name of the session. */
type Origin = Pick<AttachSpec, "sandboxKey" | "session" | "isTransient"> & {
  readonly pass: Pick<AttachSpec["pass"], "homeKey" | "connection">;
};

export function newRecord(
  told: Told,
  { pass, sandboxKey, session, isTransient }: Origin,
  process: ProcessWish,
  sandbox: string,
  attemptLife: string | undefined,
  isUnnamed = false,
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
