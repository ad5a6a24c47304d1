// The Worker with two things that production must not have: each life of a session's Durable Object, and each time that the runtime
// calls it, is a line of the log; and a clock that runs faster (CHAOS_SPEED). Never part of a deployment: wrangler.toml does not know
// this file.

import type { Env } from "../../src/env.ts";
import worker, { SessionObject as ProductionSessionObject } from "../../src/index.ts";
import { speedUp } from "./fast-clock.ts";

export { AddressObject, CounterObject, Sandbox, SandboxDirectory, TenantObject } from "../../src/index.ts";

export class SessionObject extends ProductionSessionObject {
  constructor(ctx: DurableObjectState, env: Env & { readonly CHAOS_SPEED?: string }) {
    console.log("counted: constructor");
    speedUp(ctx, Number(env.CHAOS_SPEED ?? 1));
    super(ctx, env);
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void | Promise<void> {
    console.log("counted: message");
    return super.webSocketMessage(socket, message);
  }

  override webSocketClose(socket: WebSocket, code: number, reason: string): void | Promise<void> {
    console.log("counted: close");
    return super.webSocketClose(socket, code, reason);
  }

  override fetch(request: Request): Promise<Response> {
    console.log("counted: fetch");
    return super.fetch(request);
  }

  override alarm(): Promise<void> {
    console.log("counted: alarm");
    return super.alarm();
  }

  override called(incarnation: string): Promise<void> {
    console.log("counted: called");
    return super.called(incarnation);
  }
}

export default worker;
