// The Worker with five things that production must not have: a way to abort a session's Durable Object, one to take an object that is
// parked out of memory, one to ask how much it has written, a clock that runs faster (CHAOS_SPEED), and lines of the log that count
// the lives and calls of sessions' objects (CHAOS_COUNTS). It needs the flag `unsafe_module`. Never part of a deployment: wrangler.toml
// does not know this file.

import { authenticate } from "../../src/auth/authenticate.ts";
import { sessionKey } from "../../src/auth/names.ts";
import { readAuthSettings } from "../../src/auth/settings.ts";
import type { Env } from "../../src/env.ts";
import worker, { SessionObject as ProductionSessionObject } from "../../src/index.ts";
import { speedUp } from "./fast-clock.ts";

export { AddressObject, CounterObject, Sandbox, SandboxDirectory, TenantObject } from "../../src/index.ts";

type ChaosEnv = Env & { readonly CHAOS_SPEED?: string; readonly CHAOS_COUNTS?: string };

export class SessionObject extends ProductionSessionObject {
  readonly #isCounted: boolean;

  constructor(ctx: DurableObjectState, env: ChaosEnv) {
    speedUp(ctx, Number(env.CHAOS_SPEED ?? 1));
    super(ctx, env);
    this.#isCounted = env.CHAOS_COUNTS !== undefined;
    this.#count("constructor");
  }

  #count(what: string): void {
    if (this.#isCounted) console.log(`counted: ${what}`);
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void | Promise<void> {
    this.#count("message");
    return super.webSocketMessage(socket, message);
  }

  override webSocketClose(socket: WebSocket, code: number, reason: string): void | Promise<void> {
    this.#count("close");
    return super.webSocketClose(socket, code, reason);
  }

  override fetch(request: Request): Promise<Response> {
    this.#count("fetch");
    return super.fetch(request);
  }

  override alarm(): Promise<void> {
    this.#count("alarm");
    return super.alarm();
  }

  override called(incarnation: string): Promise<void> {
    this.#count("called");
    return super.called(incarnation);
  }

  /** Asked without waking the session. */
  get isParked(): boolean {
    return this.ctx.storage.kv.get("parked") !== undefined;
  }

  /** Rows that this life of the object has written, changed and deleted, alarms among them. Asked without waking the session. */
  get rowsWritten(): number {
    return this.ctx.storage.sql.exec<{ rows: number }>("SELECT total_changes() AS rows").one().rows;
  }

  /** Ends this life of the object as a crash would. Throws where it was called: there is nobody left to answer. */
  abort(): void {
    this.ctx.abort(ABORTED);
  }
}

/** What workerd gives to a Worker with the flag. */
type Unsafe = { evict(stub: DurableObjectStub, options: { readonly webSockets: "hibernate" }): Promise<void> };
/** A name that the bundler does not look for. */
const UNSAFE: string = "workerd:unsafe";

const ABORTED = "aborted by the chaos kit";

/** The session that `?sandbox=&session=` names, in the tenant of the request's token. */
async function sessionOf(request: Request, env: ChaosEnv): Promise<DurableObjectStub<SessionObject>> {
  const { identity } = await authenticate(request, readAuthSettings(env));
  const { searchParams } = new URL(request.url);
  const name = await sessionKey(identity, searchParams.get("sandbox") ?? "", searchParams.get("session") ?? "");
  // Bound by its name, it is the class of this file, which Env does not know.
  return (env.SESSION as unknown as DurableObjectNamespace<SessionObject>).getByName(name);
}

/** `POST /chaos/evict`: takes the object out of memory as the runtime does after some seconds, its sockets stay. */
async function evictSession(request: Request, env: ChaosEnv): Promise<Response> {
  const session = await sessionOf(request, env);
  if (!(await session.isParked)) return new Response(null, { status: 409 });
  try {
    const { default: unsafe } = (await import(UNSAFE)) as { default: Unsafe };
    await unsafe.evict(session, { webSockets: "hibernate" });
    return new Response(null, { status: 204 });
  } catch (error) {
    // Something has come just now, or it is gone already.
    if (/Cannot evict|Timed out waiting to evict/.test(String(error))) return new Response(null, { status: 409 });
    throw error;
  }
}

/** `POST /chaos/abort`. */
async function abortSession(request: Request, env: ChaosEnv): Promise<Response> {
  const session = await sessionOf(request, env);
  try {
    await session.abort();
  } catch (error) {
    if (String(error).includes(ABORTED)) return new Response(null, { status: 204 });
    throw error;
  }
  throw new Error("The Durable Object was not aborted");
}

export default {
  async fetch(request: Request, env: ChaosEnv, ctx: ExecutionContext): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (request.method === "POST" && pathname === "/chaos/abort") return abortSession(request, env);
    if (request.method === "POST" && pathname === "/chaos/evict") return evictSession(request, env);
    if (pathname === "/chaos/rows") return Response.json({ rows: await (await sessionOf(request, env)).rowsWritten });
    return worker.fetch(request, env, ctx);
  },
};
