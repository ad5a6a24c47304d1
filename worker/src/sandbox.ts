// The container's Durable Object: the SDK's, with the secret of the bridge inside it.

import { Sandbox as SandboxBase } from "@cloudflare/sandbox";
import type { Env } from "./env.ts";

export class Sandbox extends SandboxBase<Env> {
  constructor(ctx: DurableObjectState<Record<string, never>>, env: Env) {
    super(ctx, env);
    const name = ctx.id.name;
    if (name === undefined) return; // Addressed by id: no session ever does.
    void ctx.blockConcurrencyWhile(async () => {
      this.envVars = { ...this.envVars, STDIO_TOKEN: await bridgeToken(env, name) };
    });
  }
}

/** The bridge's secret: the local one's own, or one for each sandbox, so that no sandbox knows another's. */
export async function bridgeToken(env: Pick<Env, "STDIO_TOKEN" | "BRIDGE_URL">, sandboxKey: string): Promise<string> {
  const secret = env.STDIO_TOKEN ?? "";
  if (env.BRIDGE_URL || secret === "") return secret;
  const bytes = new TextEncoder();
  const key = await crypto.subtle.importKey("raw", bytes.encode(secret), { name: "HMAC", hash: "SHA-256" }, false, [
    "sign",
  ]);
  const signature = new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes.encode(sandboxKey)));
  return Array.from(signature, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
