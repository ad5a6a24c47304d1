// The calls of the other parts of the Worker to the objects that count and revoke: they need not import the objects' classes.

import type { Actor, Deed } from "../audit/record.ts";
import type { AuditPage } from "../audit/trail.ts";
import type { KeptKind, KeptLayout } from "../layouts/layout-store.ts";
import type { Device } from "../push/push-notices.ts";
import type { AttentionCall, WebhookSetting, WebhookState } from "../webhooks/attention-webhook.ts";
import type { RevocableGrant, Revocation } from "./revocation.ts";
import type { RecordingReport } from "./tenant-recordings.ts";

/** A client that shows a proof of its user's. */
export type Resuming = { readonly user: string; readonly client: string };

export type Attempt = {
  /** The user of the attempt. The attempt of a client that comes back as itself is not counted, unless it is refused. */
  readonly attempt: { readonly user: string } | Resuming;
  readonly grant: RevocableGrant;
};

export type AdmissionRequest = {
  /** Absent if it was counted before. */
  readonly attempt?: Attempt["attempt"];
  readonly grant: RevocableGrant;
  /** The connection's, or call's, id. */
  readonly connection: string;
  /** The session's name as a Durable Object, to be told of revocations, and until when. */
  readonly sessionKey: string;
  readonly untilMs: number;
  /** Its sandbox, where this is the tenant whose sandbox it is, and the session may have to be made. */
  readonly sandboxKey?: string;
  /** The name of that sandbox. */
  readonly sandbox?: string;
};

export type TenantAnswer =
  | {
      readonly kind: "admitted";
      /** Why the session can't be made, should it not be there. */
      readonly noRoom?: "sandboxes" | "sessions";
    }
  | { readonly kind: "revoked" }
  | { readonly kind: "too_many"; readonly retryAfterSeconds: number };

/** A ticket to a preview, which counts once. */
export type PreviewUse = {
  readonly id: string;
  readonly untilMs: number;
  readonly sandbox: string;
  readonly port: number;
};

/** Calls of a tenant's object. Its name is the tenant's key. */
export interface TenantCalls extends Rpc.DurableObjectBranded {
  /** Whether the caller may call the API; counts the call. @param caller Among whose calls it is counted. */
  call(caller: string, grant: RevocableGrant): TenantAnswer;
  /** Whether the client may try to attach; counts the attempt. Takes no place, and notes nothing of the session. */
  attempted(request: Attempt): TenantAnswer;
  /** Whether the client may attach; counts the attempt if that was not done, and takes a place for the session if there is one. */
  admit(request: AdmissionRequest): Promise<TenantAnswer>;
  /** A client that was let in as one that comes back was refused: that was an attempt after all. */
  resumeRefused(resuming: Resuming): void;
  /** The names of the sandboxes with sessions that have not ended, as far as is known, in their order. */
  sandboxes(): string[];
  /** Makes a sandbox of the sandbox API: it has its place among the tenant's until it is deleted. @returns Whether there was room. */
  makeSandbox(sandboxKey: string): Promise<boolean>;
  hasMadeSandbox(sandboxKey: string): boolean;
  /** The sandbox is deleted: frees its place, unless it has live sessions. */
  deleteSandbox(sandboxKey: string): Promise<void>;
  /** Puts on record what was done with files of a sandbox. */
  noteFile(deed: Extract<Deed, { type: "file" }>, by: Actor, sandbox: string): Promise<void>;
  /** Whether a fresh token may take an older one's place; `untilMs` is when it ends. */
  renew(grant: RevocableGrant, sessionKey: string, untilMs: number): boolean;
  /** A session has ended, or was not made after all. @param startedBy The connection that made it, or would have. */
  ended(sessionKey: string, startedBy?: string): void;
  /** Revokes a user, a token or a login, and has every session end what rests on it. */
  revoke(what: Omit<Revocation, "atMs">, by: Actor): Promise<void>;
  /** Resolves with true once something of this is revoked, with false after so long. */
  untilRevoked(grant: RevocableGrant, ms: number): Promise<boolean>;
  /** Puts on record that a preview is opened. @returns Whether its ticket counts: it was not used before. */
  usePreview(use: PreviewUse, by: Actor): Promise<boolean>;
  /** The address that the tenant wants to be called at; undefined switches it off. */
  setWebhook(setting: WebhookSetting | undefined, by: Actor): Promise<void>;
  webhook(): Promise<WebhookState>;
  /** A session calls for attention. @returns Whether the tenant has a receiver. */
  attend(call: AttentionCall): Promise<boolean>;
  /** A program asks for a person: calls the devices of people who may drive. */
  askPeople(session: { readonly sandbox: string; readonly session: string }): Promise<void>;
  /** Calls this device of a person's from now on. @returns Whether there was room. */
  addDevice(user: string, device: Device): Promise<boolean>;
  removeDevice(user: string, endpoint: string): Promise<void>;
  /** The text that a user's page keeps. */
  keptText(kind: KeptKind, user: string): KeptLayout;
  /** Keeps it. @param base The revision that it was made from; undefined: any revision. */
  keepText(kind: KeptKind, user: string, text: string, base?: number): { isKept: boolean; kept: KeptLayout };
  /** A session's recording has grown, or is no more. @returns Whether what can't be dropped is too much. */
  recorded(report: RecordingReport): Promise<boolean>;
  /** Removes all recordings of sessions that a person started, except held ones. @returns How many. */
  removeRecordingsOf(user: string, by: Actor): Promise<number>;
  /** A page of the tenant's audit. */
  audit(after: number, limit: number): AuditPage;
}

/** Connections are counted apart by this. */
export type ConnectionKind = "json" | "other" | "unknown";

export type Place = {
  /** The connection's id. */
  readonly id: string;
  readonly sessionKey: string;
  readonly kind: ConnectionKind;
};

/** Calls of an address's object. Its name is made by `addressKey`. */
export interface AddressCalls extends Rpc.DurableObjectBranded {
  /** @returns Whether there was a place. */
  take(place: Place): Promise<boolean>;
  giveBack(id: string): void;
}

export interface TenantsEnv {
  readonly TENANT: DurableObjectNamespace<TenantCalls>;
}

export interface AddressesEnv {
  readonly ADDRESS: DurableObjectNamespace<AddressCalls>;
}
