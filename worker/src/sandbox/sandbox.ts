// The container's Durable Object: the SDK's, with the secret of the bridge inside it, and with two things more: it asks the
// bridge without ever starting the container, and lets no container sleep that still has sessions.

import { Sandbox as SandboxBase } from "@cloudflare/sandbox";
import type { Env } from "../env.ts";
import { readEgress } from "./egress.ts";

/** Where the bridge listens in its container. */
export const BRIDGE_PORT = 8080;
/** How long a container with nothing to do is kept, unless SLEEP_AFTER says otherwise. */
const SLEEP_AFTER = "10m";

export type BridgeAnswer = { readonly status: number; readonly text: string };

export class Sandbox extends SandboxBase<Env> {
  constructor(ctx: DurableObjectState<Record<string, never>>, env: Env) {
    super(ctx, env);
    this.sleepAfter = env.SLEEP_AFTER || SLEEP_AFTER;
    const hosts = readEgress(env);
    if (hosts !== undefined) {
      // The SDK reads these when it starts the container: without the internet, HTTP and HTTPS go through ContainerProxy,
      // which passes what is for these hosts. Everything that is no HTTP goes nowhere.
      this.enableInternet = false;
      this.interceptHttps = true;
      this.allowedHosts = [...hosts];
    }
    void ctx.blockConcurrencyWhile(async () => {
      this.envVars = { ...this.envVars, STDIO_TOKEN: await containerToken(env, ctx.id) };
    });
  }

  /** Whether the container runs, by the runtime's own account: what is stored may be of a container that is gone. */
  isRunning(): boolean {
    return this.ctx.container?.running === true;
  }

  /** Asks the bridge something. @returns undefined where none answers: the container is never started for it. */
  async askBridge(method: "GET" | "DELETE", path: string): Promise<BridgeAnswer | undefined> {
    if (!this.isRunning()) return undefined;
    const headers = { Authorization: `Bearer ${await containerToken(this.env, this.ctx.id)}` };
    try {
      const response = await this.ctx.container
        ?.getTcpPort(BRIDGE_PORT)
        .fetch(`http://bridge${path}`, { method, headers });
      return response === undefined ? undefined : { status: response.status, text: await response.text() };
    } catch (error) {
      console.warn(`no answer from the bridge in container ${this.ctx.id}:`, error);
      return undefined; // It is starting, or stopped just now.
    }
  }

  /**
   * Nobody has been attached for a while. A process may well run on for nobody: the bridge ends it when its `keep` is over,
   * and forgets it when its exit has been told. Until then this is asked again after each such while.
   */
  override async onActivityExpired(): Promise<void> {
    // The bridge lists by sandbox, since a local one serves several.
    const query = new URLSearchParams({ sandbox: this.ctx.id.name ?? "" });
    const answer = await this.askBridge("GET", `/sessions?${query}`);
    // No answer says nothing of what runs there. A bridge that is gone for good takes its container along.
    if (answer === undefined && this.isRunning()) return;
    const hasSessions =
      answer?.status === 200 && (JSON.parse(answer.text) as { sessions: unknown[] }).sessions.length > 0;
    if (!hasSessions) await super.onActivityExpired();
  }
}

/**
 * The secret of the bridge in a sandbox's container: another one for each, so that no sandbox knows another's.
 * Made from the object's id, which both sides know however the object was addressed or woken.
 */
export async function containerToken(env: Pick<Env, "STDIO_TOKEN">, id: DurableObjectId): Promise<string> {
  const bytes = new TextEncoder();
  const secret = bytes.encode(env.STDIO_TOKEN ?? "");
  if (secret.length === 0) throw new Error("STDIO_TOKEN is not set");
  const key = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const signature = new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes.encode(id.toString())));
  return Array.from(signature, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
