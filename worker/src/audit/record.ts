// The fields of an audit record.

import { createHash } from "node:crypto";
import { type AskEvent, type Asked, defined, type ParticipantKind, type ProcessWish } from "sandbox-stdio/core";
import type { ChainPoint } from "./chain.ts";

/** The person who acted, as their token and connection say. */
export type Actor = {
  readonly tenant: string;
  /** The token's subject; `guest:` and the ticket's id for a person without a token. */
  readonly user: string;
  /** The address of the connection; empty if the platform does not tell it. */
  readonly address: string;
  /** The id of the ticket that let them in, where one did. */
  readonly ticket?: string;
};

/** The session of the action. */
export type Place = { readonly sandbox: string; readonly session: string };

/** A variable that a process was started with. Its value may be a secret: only a person that has it can recognize its hash. */
export type RecordedVariable = { readonly name: string; readonly sha256: string };

/** The event of a record. */
export type Deed =
  /** The process began. `cwd` and `env` are the settings that were asked for beyond the sandbox's own. */
  | {
      readonly type: "start";
      readonly incarnation: string;
      readonly command: readonly string[];
      readonly tty: boolean;
      readonly cwd?: string;
      readonly env?: readonly RecordedVariable[];
    }
  /** Its process ended. */
  | { readonly type: "exit"; readonly code: number; readonly signal?: string }
  /** Its process is gone without an exit. */
  | { readonly type: "lost" }
  | AttachDeed
  /** A connection ended, with this WebSocket code. */
  | ({ readonly type: "detach"; readonly code: number } & Repeated)
  /** The client's place in the session was given up: it left, or its grace passed. */
  | { readonly type: "leave"; readonly how: "left" | "vanished" }
  /** Something was refused: an attach, or what an attached client asked for. */
  | ({ readonly type: "refused"; readonly error: string; readonly message: string } & Repeated)
  /** The server closed a client's connection. */
  | ({ readonly type: "closed"; readonly code: number; readonly reason: string } & Repeated)
  /** The keyboard changed hands; "" stands for no client. The client is the new holder, or else the old one. */
  | ({ readonly type: "holder"; readonly from: string; readonly to: string } & Repeated)
  /** A program asked for a person, with this reason; or that was taken by a person, or ended. */
  | ({ readonly type: "ask"; readonly event: AskEvent; readonly ask: string } & Partial<Omit<Asked, "id">>)
  | ({ readonly type: "signal"; readonly signal: string } & Repeated)
  | { readonly type: "kill" }
  /** Something was done with a pane, or with a window. */
  | ({ readonly type: "pane"; readonly action: string; readonly pane: string } & Repeated)
  /** The end of a client's input, which stands at this offset. */
  | { readonly type: "eof"; readonly offset: number }
  /** A driver's window has this size: the terminal is fitted to those of all. */
  | ({ readonly type: "resize"; readonly cols: number; readonly rows: number } & Repeated)
  /** The session was deleted by the API. */
  | { readonly type: "delete" }
  /** From here on, or no more, this client's input is secret. */
  | ({ readonly type: "secret"; readonly on: boolean } & Repeated)
  | {
      readonly type: "share";
      readonly ticket: string;
      readonly role: string;
      readonly guests: boolean;
      readonly expiresAt: string;
    }
  | { readonly type: "revoke"; readonly ticket: string }
  /** In a tenant's record: a user, or a token or ticket, lost all access. */
  | { readonly type: "revoke"; readonly sub: string }
  | { readonly type: "revoke"; readonly jti: string }
  /** In a tenant's record: the address that the tenant wants to be called at; "" stands for none. */
  | { readonly type: "webhook"; readonly url: string }
  /** In a tenant's record: a browser was let in to a server in the sandbox, at this port. */
  | { readonly type: "preview"; readonly port: number }
  /** A client of `/v1/sandbox` or of `/codex` did something with files (V4, E6): `outcome` is `ok`, or why it failed. */
  | {
      readonly type: "file";
      readonly operation: string;
      readonly path: string;
      readonly bytes: number;
      readonly outcome: string;
    }
  /** This output is recorded, in a segment that has this hash as it is stored. */
  | {
      readonly type: "recorded";
      readonly incarnation: string;
      readonly from: number;
      readonly to: number;
      readonly sha256: string;
    }
  /** A recording was removed, or is kept until it is released. */
  | {
      readonly type: "recording";
      readonly did: "removed" | "held" | "released";
      readonly incarnation: string;
      readonly reason?: string;
    }
  /** In a tenant's record: all recordings of a person's sessions were removed. */
  | { readonly type: "recordings_removed"; readonly sub: string; readonly count: number }
  /** In a tenant's record: a login by cookie was ended by its person. */
  | { readonly type: "logout" }
  | InputDeed;

/** The other clients see `name`; the {@link Actor} says who it is. */
export type AttachDeed = Repeated & {
  readonly type: "attach";
  readonly name: string;
  readonly role: string;
  readonly kind: ParticipantKind;
};

/** Repeats of an event share a record, with their number, the last one's time, and the final state. */
export type Repeated = { readonly times?: number; readonly until?: string };

/**
 * A batch of one client's input. On a terminal `text`, or `base64` for invalid UTF-8; on pipes `sha256`; neither if the input is
 * secret, was refused or content is not recorded. Both are stored as the bytes that came, and read as a string.
 */
export type InputDeed = Repeated & {
  readonly type: "input";
  /** The pane that the input was for, as its client called it (B9). Such input has no offsets. */
  readonly pane?: string;
  /** Offset of the batch's first byte in this client's input; with `pane`, of the next byte of input to the session. */
  readonly offset: number;
  readonly length: number;
  readonly text?: Uint8Array | string;
  readonly base64?: Uint8Array | string;
  readonly sha256?: string;
  readonly secret?: true;
  /** The input was refused: the process did not get it. */
  readonly refused?: true;
  /** The input came again after a restart of the session's object, which had passed it on or refused it before. */
  readonly resent?: true;
};

/** `time` is ISO 8601 in UTC; `client` the id that the session gave it. */
export type AuditEvent = { readonly time: string } & Partial<Place> &
  Partial<Actor> & { readonly client?: string } & Deed;

export type AuditRecord = ChainPoint & AuditEvent;

/** The time of a record that is made now. */
export function now(): string {
  return new Date().toISOString();
}

/** Absent where nothing was asked for. Variables as they were given: of one that is given twice the last counts. */
export function recordedSurroundings({ cwd, env }: Pick<ProcessWish, "cwd" | "env">): {
  cwd?: string;
  env?: readonly RecordedVariable[];
} {
  const variables = env.map(([name, value]) => ({ name, sha256: createHash("sha256").update(value).digest("hex") }));
  return defined({ cwd, env: variables.length === 0 ? undefined : variables });
}
