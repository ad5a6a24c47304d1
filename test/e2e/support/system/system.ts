// The running system as a test sees it: where it is, who may come in, and how its parts are restarted.
import { randomBytes } from "node:crypto";
import { inject } from "vitest";
import { type TokenRequest, tokenMinter } from "../../../../packages/local/src/issuer/tokens.ts";
import type { SystemFacts } from "../../global-setup.ts";
import type { TOKEN_SECONDS } from "./control-server.ts";

/** Vitest numbers its workers from 1; each runs one file at a time. */
async function borrowSystem(): Promise<SystemFacts> {
  const response = await fetch(`${inject("systemsUrl")}/${process.env.VITEST_POOL_ID}`, { method: "POST" });
  if (!response.ok) throw new Error(`Cannot borrow a system: ${await response.text()}`);
  return (await response.json()) as SystemFacts;
}

export const system = inject("system") ?? (await borrowSystem());

/** Signs a token of the system's issuer. */
export const mint = await tokenMinter({ keysDir: system.dir, issuerUrl: system.issuerUrl });

/** Somebody with a token. Tenants are organisations here. */
export interface Person {
  readonly sub: string;
  readonly org: string;
  readonly token: string;
}

/** Letters and digits that nobody else has: names never meet those of another test. */
export function fresh(prefix: string): string {
  return `${prefix}-${randomBytes(5).toString("hex")}`;
}

/** Somebody in a tenant of their own, unless `request` says which. */
export async function person(request: TokenRequest = {}): Promise<Person> {
  const sub = request.sub ?? fresh("person");
  const org = request.org ?? fresh("org");
  return { sub, org, token: await mint({ ...request, sub, org }) };
}

async function control<T>(action: string): Promise<T> {
  const response = await fetch(`${system.controlUrl}/${action}`, { method: "POST" });
  if (!response.ok) throw new Error(`${action}: ${await response.text()}`);
  return (await response.json()) as T;
}

/** Process ids, each also that of a process group: wrangler with its workerd, and the bridge. */
export const pids = () => control<{ readonly worker: number; readonly bridge: number }>("pids");
/** kill -9 of wrangler and workerd, then a start in the same place. What Durable Objects stored survives. */
export const restartWorker = () => control<null>("restart-worker");
/** kill -9 of the bridge, then a start on the same port. */
export const restartBridge = () => control<null>("restart-bridge");
export const killBridge = () => control<null>("kill-bridge");
export const startBridge = () => control<null>("start-bridge");
/** Breaks every connection between Worker and bridge; new ones are let through. */
export const cutInnerHop = () => control<null>("cut");
/** Breaks every connection that goes through the relay before the Worker. */
export const cutRelay = () => control<null>("cut-relay");
/** Lets new connections to the bridge wait until they are released. */
export const holdInnerHop = () => control<null>("hold");
export const releaseInnerHop = () => control<null>("release");
/** Forgets what was recorded, and breaks every connection as {@link cutInnerHop} does: all that follows is recorded. */
export const forgetRecorded = () => control<null>("forget");

/** How long the tokens of logins live that are made, or renewed, from now on. */
export const setTokenSeconds = (seconds: (typeof TOKEN_SECONDS)[number]) => control<null>(`tokens-${seconds}`);

/** What the Worker sent to the bridge, one entry for each connection. */
export async function recorded(): Promise<Buffer[]> {
  const connections = await control<string[]>("recorded");
  return connections.map((bytes) => Buffer.from(bytes, "base64"));
}

/** What the bridge says of a sandbox's sessions, to whom knows its secret: the one here, or those in containers. */
export async function sessionsInBridge(query: URLSearchParams): Promise<{ session: string; held: boolean }[]> {
  if (system.bridgeUrl === "") return control(`bridge-sessions?${query}`);
  const headers = { Authorization: `Bearer ${system.bridgeToken}` };
  const response = await fetch(`${system.bridgeUrl}/sessions?${query}`, { headers });
  return ((await response.json()) as { sessions: { session: string; held: boolean }[] }).sessions;
}

/** A request to the Worker's API with a person's token. */
export function api(who: Person | undefined, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  if (who !== undefined) headers.set("Authorization", `Bearer ${who.token}`);
  return fetch(`${system.origin}${path}`, { redirect: "manual", ...init, headers });
}
