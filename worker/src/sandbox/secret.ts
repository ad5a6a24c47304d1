// The secrets of bridges: the deployment's, and the one of each container that is made from it.

import { AuthFault } from "../refusal/fault.ts";

export interface BridgeSecretEnv {
  /**
   * Secret, 16 characters or more: each container's bridge gets a secret derived from it. Without it no session opens.
   * Required.
   */
  readonly STDIO_TOKEN?: string;
}

/** Below this it can be guessed, and with it the secret of every bridge. */
const MIN_SECRET_CHARACTERS = 16;

/** @throws {AuthFault} `misconfigured`. */
export function bridgeSecret({ STDIO_TOKEN = "" }: BridgeSecretEnv): string {
  if (STDIO_TOKEN.length >= MIN_SECRET_CHARACTERS) return STDIO_TOKEN;
  const need = `STDIO_TOKEN must have at least ${MIN_SECRET_CHARACTERS} characters`;
  throw new AuthFault("misconfigured", `This server is not set up: ${need}`);
}

/**
 * The secret of the bridge in a sandbox's container: another one for each, so that no sandbox knows another's.
 * Made from the object's id, which both sides know however the object was addressed or woken.
 */
export async function containerToken(env: BridgeSecretEnv, id: DurableObjectId | string): Promise<string> {
  const bytes = new TextEncoder();
  const secret = bytes.encode(bridgeSecret(env));
  const key = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const signature = new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes.encode(id.toString())));
  return Array.from(signature, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
