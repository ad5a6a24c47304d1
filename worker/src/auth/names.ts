// Names of sandboxes and sessions: the names that a client may give, and the qualified names they stand for.
// The tenant is part of every qualified name, so no look-up has to remember to check it.

import { hash } from "node:crypto";
import { AuthFault } from "../refusal/fault.ts";
import type { Identity } from "./identity.ts";

/** The part of an identity that owns sandboxes. */
export type Tenant = Pick<Identity, "issuer" | "tenantClaim" | "tenantValue">;

/**
 * 240 bits of SHA-256. The Sandbox SDK takes 1 to 63 characters that neither begin nor end with a hyphen
 * and are no reserved word; lower-case hex always fits.
 */
const KEY_CHARACTERS = 60;
/** 1 to 64 characters, all one byte. No leading dot or hyphen: neither a hidden file nor an option to a program. */
const NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/;

/**
 * Returns `name` if a client may use it.
 * @throws {AuthFault} `bad_name`.
 */
export function checkName(kind: "sandbox" | "session", name: string): string {
  if (NAME.test(name)) return name;
  throw new AuthFault("bad_name", `A ${kind} name is 1 to 64 of A-Z a-z 0-9 . _ - and starts with none of . -`);
}

/** A sandbox, as it was asked for. */
export type SandboxPlace = { readonly tenant: string; readonly name: string };

/** @returns The container's name, as `getSandbox(env.Sandbox, id)` takes it. */
export type SandboxIds = (place: SandboxPlace) => string;

/** The ids that the Sandbox SDK takes. */
const SANDBOX_ID = /^[A-Za-z0-9_]([A-Za-z0-9._-]{0,61}[A-Za-z0-9_])?$/;
let chosenIds: SandboxIds | undefined;

/** Called once, by the entry file, where containers have names of the Worker's own choice. */
export function useSandboxIds(ids: SandboxIds | undefined): void {
  chosenIds = ids;
}

/** @throws {AuthFault} `bad_name`; `misconfigured` for an id that no sandbox can have. */
function chosenId({ tenantValue }: Tenant, sandbox: string): string | undefined {
  const id = chosenIds?.({ tenant: tenantValue, name: checkName("sandbox", sandbox) });
  if (id === undefined || SANDBOX_ID.test(id)) return id;
  throw new AuthFault("misconfigured", `This server is not set up: a sandbox can't have the id "${id}"`);
}

/** The name of a tenant's own Durable Object: 60 lower-case hex digits, never one of a sandbox or session. */
export function tenantKey(tenant: Tenant): Promise<string> {
  return digest(owner(tenant));
}

/**
 * The name of a sandbox's container and Durable Object: 60 lower-case hex digits, unless the Worker names its containers.
 * @throws {AuthFault} `bad_name`.
 */
export async function sandboxKey(tenant: Tenant, sandbox: string): Promise<string> {
  return chosenId(tenant, sandbox) ?? digest([...owner(tenant), checkName("sandbox", sandbox)]);
}

/**
 * The name of a session's Durable Object: 60 lower-case hex digits, never one of `sandboxKey`.
 * @throws {AuthFault} `bad_name`.
 */
export async function sessionKey(tenant: Tenant, sandbox: string, session: string): Promise<string> {
  const id = chosenId(tenant, sandbox);
  // Users who share a container share its sessions: the bridge in it knows one of each name.
  if (id !== undefined) return digest(["container", id, "session", checkName("session", session)]);
  return digest([...owner(tenant), checkName("sandbox", sandbox), checkName("session", session)]);
}

/** The name of the Durable Object of a sandbox's codex clients: as of a session, and never one's, whose name is not empty. */
export async function codexKey(tenant: Tenant, sandbox: string): Promise<string> {
  return digest([...owner(tenant), checkName("sandbox", sandbox), "", "codex"]);
}

function owner(tenant: Tenant): string[] {
  return [tenant.issuer, tenant.tenantClaim, tenant.tenantValue];
}

/** At once, as an attach needs three of them. */
async function digest(parts: readonly string[]): Promise<string> {
  // JSON quotes every part, so no choice of values can move a boundary between two of them.
  return hash("sha256", JSON.stringify(parts)).slice(0, KEY_CHARACTERS);
}
