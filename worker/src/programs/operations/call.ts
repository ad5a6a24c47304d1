// The Worker's calls to a session's Durable Object on behalf of a program, and their answers: plain values, over one request,
// whose signal tells the object that its caller has gone.

import type { processSchemas, sessionSchemas } from "@sbx/api";
import { defined, type ProcessWish, packFileMessage, unpackFileMessage, type WriteOnce } from "sandbox-stdio/core";
import type { StartOrder, WaitUntil } from "sandbox-stdio/programs";
import type * as z from "zod";
import type { Pass } from "../../attach/entry-limits.ts";
import type { Grant } from "../../attach/grant.ts";
import type { Actor } from "../../audit/record.ts";

/** P1, in the bridge's terms. */
export type ProgramProcess = {
  readonly wish: ProcessWish & { readonly cmd: string };
  /** The one string that a shell is given, where that was asked for. */
  readonly line?: string;
  readonly size?: { readonly cols: number; readonly rows: number };
  /** The attempt of `ended: "replace"`. */
  readonly replace?: string;
  readonly keepExited: number;
  /** Base64. */
  readonly stdin: string;
  readonly isStdinEnded: boolean;
  /** Whether its output waits for its first client. */
  readonly isAwaited: boolean;
  /** What of the usual environment it gets, where not all of it (E3). */
  readonly envPolicy?: StartOrder["envPolicy"];
};

/** A request's fields as they were read, but for the process that is meant. */
type Asked<S extends z.ZodType> = Readonly<Omit<z.output<S>, "incarnation">>;

export type Operation =
  | {
      readonly type: "create";
      readonly process: ProgramProcess;
      /** Not its description is asked for, but soon its *chunks*. */
      readonly isFollowed?: boolean;
    }
  | ({
      readonly type: "run";
      readonly process: ProgramProcess;
      /** Whether its process's `stdin` was given, be it empty. */
      readonly hasInput: boolean;
      /** Whether anything was said of it, `null` included: then it must be what it was the first time (U4). */
      readonly saysInput: boolean;
    } & Pick<Asked<typeof processSchemas.runRequest>, "waitMs" | "maxBytes">)
  | ({
      readonly type: "read";
      /** Output that came at this time or later, as Date.now(). */
      readonly sinceMs?: number | undefined;
      /** Whether the answer reports when the bytes came. */
      readonly hasTimes?: boolean;
      /** For an event stream: calls for attention after this offset are reported too (D6). */
      readonly attentionAfter?: number;
    } & Omit<Asked<typeof sessionSchemas.readQuery>, "since" | "agoMs" | "times">)
  /** The output behind chunk `after` (E4). With `reader`, a name, the process waits for these calls. */
  | {
      readonly type: "chunks";
      readonly after: number;
      readonly maxBytes: number;
      readonly waitMs: number;
      readonly reader?: string;
    }
  /** Ends the process, and keeps what is known of it. */
  | { readonly type: "kill"; readonly writer: string }
  | ({ readonly type: "signal" } & Asked<typeof sessionSchemas.signalRequest>)
  | ({ readonly type: "resize" } & Asked<typeof sessionSchemas.resizeRequest>)
  | ({ readonly type: "keyboard" } & Asked<typeof sessionSchemas.keyboardRequest>)
  | ({
      readonly type: "write";
      /** Latin-1. */
      readonly bytes?: string | undefined;
      readonly once?: WriteOnce | undefined;
      /** How long a full queue is waited for. */
      readonly roomMs?: number;
    } & Omit<Asked<typeof sessionSchemas.writeRequest>, "text" | "base64">)
  | ({ readonly type: "screen" } & Asked<typeof sessionSchemas.screenQuery>)
  | { readonly type: "commands" }
  /** Which process there is, and where its log ends; for a wait, whether it has anything of the kind. */
  | { readonly type: "locate"; readonly from?: number | undefined; readonly waitsFor?: WaitUntil["kind"] };

/** Sent on a separate socket (`wait-socket.ts`). */
export type WaitOperation = { readonly type: "wait"; readonly from: number } & Asked<typeof sessionSchemas.waitRequest>;

export type ProgramCall = {
  readonly sandboxKey: string;
  readonly sandbox: string;
  readonly session: string;
  /** The one process that is meant (R2). */
  readonly incarnation?: string | undefined;
  readonly who: Grant;
  readonly actor: Actor;
  /** The caller's place among connections, and the tenants concerned. */
  readonly pass: Pass;
  /** Whether the caller was let in to make a session. */
  readonly mayStart: boolean;
  readonly operation: Operation;
};

export type WaitCall = Omit<ProgramCall, "operation"> & { readonly operation: WaitOperation };

/** `bytes` is output that is to go out as the caller wants it; `body` everything else. */
export type ProgramAnswer = {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly retryAfterSeconds?: number;
  readonly bytes?: Uint8Array;
};

/** Not for callers: the operation would start a process, and the Worker must let the caller in for that first. */
export const NEEDS_PASS = 428;

const CALL_PATH = "/program";

/** @param signal Says that the caller has gone. As long as it lives it keeps the object in memory. */
export function requestOf(call: ProgramCall, signal: AbortSignal | undefined): Request {
  const init = { method: "POST", body: JSON.stringify(call) };
  return new Request(`http://session${CALL_PATH}`, { ...init, ...defined({ signal }) });
}

/** @returns undefined where the request is of another kind. */
export async function callOf(request: Request): Promise<ProgramCall | undefined> {
  // Only the Worker reaches a Durable Object, so the object trusts the call.
  return new URL(request.url).pathname === CALL_PATH ? ((await request.json()) as ProgramCall) : undefined;
}

export function packAnswer({ bytes, ...head }: ProgramAnswer): Response {
  return new Response(packFileMessage(head, bytes));
}

/** @throws {TypeError} If it is not an answer: the object was interrupted. */
export async function unpackAnswer(response: Response): Promise<ProgramAnswer> {
  const said = unpackFileMessage<Omit<ProgramAnswer, "bytes">>(new Uint8Array(await response.arrayBuffer()));
  if (said === undefined) throw new TypeError("Cannot read the object's answer");
  return { ...said.message, bytes: said.bytes };
}

/** A person types a secret for a program: the program's own calls must not see it. */
export const SECRET_ENTRY = refused(
  409,
  "secret_entry",
  'a person was asked for a secret: wait with {"ask": ID} until that is over',
);

export function refused(status: number, error: string, message: string, more: object = {}): ProgramAnswer {
  return { status, body: { error, message, ...more } };
}
