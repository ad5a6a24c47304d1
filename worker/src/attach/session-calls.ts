// The calls of the other parts of the Worker to a session object, so that they need not import its class.

import type { Participant, Recording } from "sandbox-stdio/core";
import type { Actor } from "../audit/record.ts";
import type { AuditPage } from "../audit/trail.ts";
import type { Role } from "../auth/ticket.ts";
import type { Revocation } from "../limits/revocation.ts";
import type { Asker } from "./grant.ts";
import type { RecordingIndex, RecordingListing, RecordingReader, Removal, TellRecording } from "./recording-calls.ts";

/** The API's description of a session. */
export type SessionListing = {
  readonly session: string;
  readonly incarnation: string;
  readonly state: "running" | "exited" | "lost";
  readonly tty: boolean;
  readonly cmd: string;
  readonly args: readonly string[];
  readonly createdAt: string;
  readonly cols?: number;
  readonly rows?: number;
  /** The title that the program gives its terminal. */
  readonly title?: string;
  readonly clients: number;
  /** The attached clients; absent if there are none. */
  readonly participants?: readonly Participant[];
  readonly offset: number;
  /** When the last output arrived; absent if there was none. */
  readonly lastOutputAt?: string;
  /** The offset of the asker's input by HTTP. */
  readonly inputOffset: number;
  readonly exit?: { readonly code: number; readonly signal?: string };
  /** Present if the output is recorded: since when, and whether parts are redacted. */
  readonly recording?: Recording;
};

/** The API's listing of a share ticket, without the ticket itself, which only its maker gets, once. */
export type TicketListing = {
  readonly id: string;
  readonly role: Role;
  readonly guests: boolean;
  /** How many clients may use it at the same time. */
  readonly maxClients: number;
  /** The person who made it. */
  readonly maker: string;
  readonly createdAt: string;
  readonly expiresAt: string;
  /** Also gives access to the recording. */
  readonly recording?: true;
};

/** `codex`: of the object of a sandbox's codex clients, which has no process of its own. Absent: a share. */
export type TicketKind = "codex";

export type NewShareTicket = {
  readonly id: string;
  readonly role: Role;
  readonly guests: boolean;
  readonly maxClients: number;
  readonly maker: string;
  readonly expiresAtMs: number;
  /** Whether it gives the recording of its process too (G8). */
  readonly recording: boolean;
};

/** Calls of a session object; `fetch` takes attaches (`attach-spec.ts`) and programs' calls (`programs/call.ts`). */
export interface SessionCalls extends Rpc.DurableObjectBranded {
  /** Wakes the object, which then reads its storage while other objects are asked whether a client may attach. */
  wake(): Promise<void>;
  /** Undefined if there is no session. @param asker The caller whose input by calls is counted. */
  describe(asker?: Asker): Promise<SessionListing | undefined>;
  /** A page of the audit; undefined if nothing was ever recorded. */
  audit(after: number, limit: number): Promise<AuditPage | undefined>;
  /** Ends the process and forgets the session. @param by Absent if the session's own rule says so. @returns Whether there was one. */
  end(by?: Actor): Promise<boolean>;
  /** Whether there is a process, or soon will be. */
  isAlive(): Promise<boolean>;
  /** The open ones among these connections. */
  openConnections(ids: readonly string[]): string[];
  /** A bridge tells that this process has output or an exit that the object has not received. */
  called(incarnation: string): Promise<void>;
  /** A tenant has revoked a user, a token or a login. @param by The tenant's key. */
  revoked(revocation: Revocation, by: string): Promise<void>;
  /** Stores a share ticket, which is valid from then on. */
  addTicket(ticket: NewShareTicket, by: Actor, kind?: TicketKind): "added" | "no_session" | "too_many";
  /** The valid share tickets; undefined if there is no session. */
  listTickets(kind?: TicketKind): TicketListing[] | undefined;
  /** Revokes a share ticket and ends its connections. @returns Whether there was such a ticket. */
  revokeTicket(id: string, by: Actor): Promise<boolean>;
  // ---- Recordings ----
  /** Newest first. */
  listRecordings(): RecordingListing[];
  /** @param incarnation Absent: the newest recording. */
  recordingIndex(incarnation: string | undefined): Promise<RecordingIndex>;
  /** The process whose recording a share ticket gives. `revoked`: the ticket is not good. */
  sharedRecording(ticket: string): { readonly incarnation: string } | "none" | "revoked";
  /** A segment that is stored in the object; undefined if there is none. */
  recordingSegment(incarnation: string, from: number): Uint8Array | undefined;
  /** Sends the recording's output from an offset on. Resolves when it has ended or continues in storage. @throws If the reader loses its right. */
  streamRecording(incarnation: string, from: number, reader: RecordingReader, tell: TellRecording): Promise<void>;
  /** @param incarnation Absent: all. */
  removeRecordings(incarnation: string | undefined, by: Actor, isAdmin: boolean): Promise<Removal>;
  /** @param reason Absent: releases the hold. */
  holdRecording(incarnation: string | undefined, reason: string | undefined, by: Actor): "done" | "none" | "removed";
  /** Drops at least `bytes` of a recording's oldest output. @returns How many were dropped. */
  shrinkRecording(incarnation: string, bytes: number): Promise<number>;
}

export interface SessionsEnv {
  readonly SESSION: DurableObjectNamespace<SessionCalls>;
}
