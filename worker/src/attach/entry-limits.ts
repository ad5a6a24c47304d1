// The checks between a right to attach and the session: revocations, limits, the Project Service. The Worker asks two objects in
// parallel. Only an attempt within the limits costs the Project Service a request.

import { CLOSE, defined, type Retry } from "sandbox-stdio/core";
import { tenantKey } from "../auth/names.ts";
import type { ProjectQuestion, ProjectUser } from "../auth/project-gate.ts";
import type { AuthEnv } from "../auth/settings.ts";
import { requestId } from "../base/request-id.ts";
import { addressKey } from "../limits/address-key.ts";
import type {
  AddressesEnv,
  Attempt,
  ConnectionKind,
  Resuming,
  TenantAnswer,
  TenantCalls,
  TenantsEnv,
} from "../limits/limit-calls.ts";
import type { RevocableGrant } from "../limits/revocation.ts";
import { AuthFault } from "../refusal/fault.ts";
import type { Refusal } from "../refusal/refusal.ts";
import type { AttachRight } from "./attach-right.ts";
import type { Grant } from "./grant.ts";
import { ResumeSigner } from "./resume.ts";
import type { SessionsEnv } from "./session-calls.ts";

/** The facts about an admitted connection, for the session's object. */
export type Pass = {
  /** The connection's id, if it counts against its address. */
  readonly connection: string;
  /** The id of the upgrade request, for the log. */
  readonly request?: string;
  readonly address: string;
  /** The tenant that owns the session: its object's name. */
  readonly homeKey: string;
  /** The bearer's tenant, if it differs. */
  readonly ownKey?: string;
  /** Why the session can't be made if it doesn't exist. */
  readonly noRoom?: Refusal;
  /** Set for a resuming client, which skips rate limiting: how to charge it if the resume is refused. */
  readonly uncounted?: Resuming;
};

export type Asked = {
  readonly sessionKey: string;
  readonly sandboxKey: string;
  readonly sandbox: string;
  readonly kind: ConnectionKind;
  /** The client's proof of resume. */
  readonly resume: string | undefined;
};

/** The objects that the Worker asks before it lets a connection in, and the secret that resumes are signed with. */
export type EntryEnv = AddressesEnv & TenantsEnv & SessionsEnv & Pick<AuthEnv, "SESSION_SECRET">;

/** How long a client is asked to wait if all places are taken. */
const FULL_RETRY_SECONDS = 10;

/** The address of the request's client as the platform tells it; a client's own headers can't set it there. */
export function addressOf(request: Request): string {
  return request.headers.get("CF-Connecting-IP") ?? "unknown";
}

/** An admitted connection, with its user as the Project Service knows them. */
export type Passed = ProjectUser & { readonly pass: Pass };

/**
 * Admits a connection, or says why not. The session gives back the place that was taken.
 * @throws {AuthFault} From the Project Service. Then no place is taken.
 */
export async function pass(
  env: EntryEnv,
  request: Request,
  right: AttachRight,
  asked: Asked,
  question: ProjectQuestion,
): Promise<Passed | Refusal> {
  const address = addressKey(addressOf(request));
  const connection = crypto.randomUUID();
  const places = env.ADDRESS.getByName(address);
  const entry = await entryOf(env, right, asked, address);
  const isAnswered = typeof question !== "function";
  const [hasPlace, first] = await Promise.all([
    places.take({ id: connection, sessionKey: asked.sessionKey, kind: asked.kind }),
    isAnswered ? admitted(entry, connection, true) : attempted(entry),
  ]);
  if (!hasPlace) return ADDRESS_FULL;
  let isIn = false;
  try {
    if ("code" in first) return first;
    const said = isAnswered ? question : await answered(question, entry);
    const admission = isAnswered ? first : await admitted(entry, connection, false);
    if ("code" in admission) return admission;
    isIn = true;
    const { homeKey, ownKey, uncounted } = entry;
    return {
      ...said,
      pass: {
        ...{ connection, request: requestId(request), address, homeKey, ...admission },
        ...defined({ ownKey, uncounted }),
      },
    };
  } finally {
    if (!isIn) await places.giveBack(connection);
  }
}

type Entry = {
  readonly home: DurableObjectStub<TenantCalls>;
  readonly homeKey: string;
  /** The bearer's tenant if it differs: a person from elsewhere can be revoked there too. */
  readonly own?: DurableObjectStub<TenantCalls>;
  readonly ownKey?: string;
  readonly grant: Grant;
  readonly attempt: Attempt["attempt"];
  readonly uncounted?: Resuming;
  readonly asked: Asked;
};

async function entryOf(env: EntryEnv, right: AttachRight, asked: Asked, address: string): Promise<Entry> {
  const { tenant, grant } = right;
  const client = await clientOf(env, right, asked);
  const homeKey = await tenantKey(tenant);
  const ownKey = await ownTenantKey(grant, homeKey);
  const user = grant.isGuest ? `${grant.subject} ${address}` : grant.subject;
  const uncounted = client === undefined ? undefined : { user, client };
  return {
    ...{ homeKey, grant, asked, home: env.TENANT.getByName(homeKey), attempt: uncounted ?? { user } },
    ...defined({ ownKey, own: ownKey === undefined ? undefined : env.TENANT.getByName(ownKey) }),
    ...defined({ uncounted }),
  };
}

/** Counts the attempt without taking a place. */
async function attempted({ home, own, grant, attempt }: Entry): Promise<Admission | Refusal> {
  return admissionOf(
    await Promise.all([
      home.attempted({ attempt, grant: revocablePart(grant) }),
      own?.attempted({ attempt, grant: grant.own }),
    ]),
  );
}

/** Takes a place. @param counts Whether the attempt has not been counted yet. */
async function admitted(
  { home, own, grant, attempt, uncounted, asked }: Entry,
  connection: string,
  counts: boolean,
): Promise<Admission | Refusal> {
  const { sessionKey, sandboxKey, sandbox } = asked;
  const visit = { connection, sessionKey, untilMs: grant.expiresAtMs, ...(counts ? { attempt } : {}) };
  const mayBeMade = grant.mayCreate && uncounted === undefined;
  return admissionOf(
    await Promise.all([
      home.admit({ ...visit, grant: revocablePart(grant), ...(mayBeMade ? { sandboxKey, sandbox } : {}) }),
      own?.admit({ ...visit, grant: grant.own }),
    ]),
  );
}

/** The Project Service's answer. A refused resume counts as an attempt after all. */
async function answered(question: () => Promise<ProjectUser>, { home, uncounted }: Entry): Promise<ProjectUser> {
  try {
    return await question();
  } catch (error) {
    const isRefused = error instanceof AuthFault && error.code === "not_owner";
    if (isRefused && uncounted !== undefined) await home.resumeRefused(uncounted);
    throw error;
  }
}

type Admission = Pick<Pass, "noRoom">;

function admissionOf([atHome, atOwn]: readonly [TenantAnswer, TenantAnswer | undefined]): Admission | Refusal {
  const refusal = refusalOf(atHome) ?? (atOwn && refusalOf(atOwn));
  if (refusal !== undefined) return refusal;
  const noRoom = atHome.kind === "admitted" ? atHome.noRoom : undefined;
  return defined({ noRoom: noRoom && NO_ROOM[noRoom] });
}

/** All parts of a grant that the session's tenant may revoke. */
export function revocablePart({ persons, tokenIds, login }: Grant): RevocableGrant {
  return { persons, tokenIds, ...defined({ login }) };
}

/** The bearer's tenant if it is not the session's. */
async function ownTenantKey(grant: Grant, homeKey: string): Promise<string | undefined> {
  const key = grant.bearer === undefined ? homeKey : await tenantKey(grant.bearer);
  return key === homeKey ? undefined : key;
}

/** Releases the place of a connection that has ended or was never made. */
export async function giveBack(env: AddressesEnv, { address, connection }: Pass): Promise<void> {
  await env.ADDRESS.getByName(address).giveBack(connection);
}

/** Counts the attempt of a resuming client after all, because it was refused. */
export async function countRefused(env: TenantsEnv, { homeKey, uncounted }: Pass, retry: Retry): Promise<void> {
  if (uncounted === undefined || retry !== "never") return;
  await env.TENANT.getByName(homeKey).resumeRefused(uncounted);
}

export const ADDRESS_FULL: Refusal = {
  code: CLOSE.tooMany,
  error: "too_many_connections",
  message: "too many connections from this address",
  retryAfterSeconds: FULL_RETRY_SECONDS,
};

const NO_ROOM: Readonly<Record<"sandboxes" | "sessions", Refusal>> = {
  sandboxes: {
    code: CLOSE.tooMany,
    error: "too_many_sandboxes",
    message: "too many sandboxes are in use: end the sessions of one",
    // Sessions may last for days: only ending one is sure to make room.
    retry: "never",
  },
  sessions: {
    code: CLOSE.tooMany,
    error: "too_many_sessions",
    message: "too many sessions in this sandbox: end one",
    retry: "never",
  },
};

function refusalOf(answer: TenantAnswer): Refusal | undefined {
  switch (answer.kind) {
    case "admitted":
      return undefined;
    case "revoked":
      return {
        code: CLOSE.unauthenticated,
        error: "revoked",
        message: "the token, its user or the ticket was revoked",
      };
    case "too_many":
      return {
        code: CLOSE.tooMany,
        error: "too_many_attempts",
        message: "too many attempts to attach",
        retryAfterSeconds: answer.retryAfterSeconds,
      };
  }
}

/** The client that is resumed, by its proof, which the session checks again. */
async function clientOf(
  env: EntryEnv,
  { grant }: AttachRight,
  { resume, sessionKey }: Asked,
): Promise<string | undefined> {
  if (resume === undefined) return undefined;
  const signer = new ResumeSigner(env.SESSION_SECRET ?? "", env.SESSION.idFromName(sessionKey).toString());
  const claim = await signer.read(resume);
  return claim?.subject === grant.subject ? claim.client : undefined;
}
