// The container's Durable Object: the SDK's, with the secret of the bridge inside it, and with two things more: it asks the
// bridge without ever starting the container, and lets no container sleep that still has sessions.

import { Sandbox as SandboxBase } from "@cloudflare/sandbox";
import { parseListings } from "sandbox-stdio/core";
import { AuthFault } from "../auth/fault.ts";
import { type BridgeAnswer, type BridgeQuestion, questionTo, readAnswer } from "../bridge/question.ts";
import type { Env } from "../env.ts";
import { log, useLogLevel } from "../log.ts";
import { readEgress } from "./egress.ts";

/** Where the bridge listens in its container. */
export const BRIDGE_PORT = 8080;
/** How long a container with nothing to do is kept, unless SLEEP_AFTER says otherwise. */
const SLEEP_AFTER = "10m";

export class Sandbox extends SandboxBase<Env> {
  constructor(ctx: DurableObjectState<Record<string, never>>, env: Env) {
    super(ctx, env);
    useLogLevel(env);
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
      const { LOG_LEVEL = "", STDIO_TRACE = "" } = env;
      this.envVars = { ...this.envVars, LOG_LEVEL, STDIO_TRACE, STDIO_TOKEN: await containerToken(env, ctx.id) };
    });
  }

  /** Whether the container runs, by the runtime's own account: what is stored may be of a container that is gone. */
  isRunning(): boolean {
    return this.ctx.container?.running === true;
  }

  /**
   * Asks the bridge something. @returns undefined where none answers: the container is never started for it.
   * @param sandbox The name that the bridge lists by, since a local one serves several.
   */
  async askBridge(question: BridgeQuestion, sandbox = this.ctx.id.name ?? ""): Promise<BridgeAnswer | undefined> {
    if (!this.isRunning()) return undefined;
    const token = await containerToken(this.env, this.ctx.id);
    const { path, init } = questionTo(question, sandbox, token);
    try {
      const response = await this.ctx.container?.getTcpPort(BRIDGE_PORT).fetch(`http://bridge${path}`, init);
      return response === undefined ? undefined : await readAnswer(response);
    } catch (error) {
      log.warn(`no answer from the bridge in container ${this.ctx.id}:`, error);
      return undefined; // It is starting, took too long, or stopped just now.
    }
  }

  /**
   * Nobody has been attached for a while. A process may well run on for nobody: the bridge ends it when its `keep` is over,
   * and forgets it when its exit has been told. Until then this is asked again after each such while.
   */
  override async onActivityExpired(): Promise<void> {
    const answer = await this.askBridge({ ask: "sessions" });
    // No answer says nothing of what runs there, nor does one too long to read. A bridge that is gone takes its container along.
    if (this.isRunning() && (answer === undefined || answer.text === undefined)) return;
    const hasSessions = answer?.status === 200 && (parseListings(answer.text ?? "")?.length ?? 0) > 0;
    if (!hasSessions) await super.onActivityExpired();
  }
}

/** Below this it can be guessed, and with it the secret of every bridge. */
const MIN_SECRET_CHARACTERS = 16;

/** @throws {AuthFault} `misconfigured`. */
export function bridgeSecret({ STDIO_TOKEN = "" }: Pick<Env, "STDIO_TOKEN">): string {
  if (STDIO_TOKEN.length >= MIN_SECRET_CHARACTERS) return STDIO_TOKEN;
  const need = `STDIO_TOKEN must have at least ${MIN_SECRET_CHARACTERS} characters`;
  throw new AuthFault("misconfigured", `This server is not set up: ${need}`);
}

/**
 * The secret of the bridge in a sandbox's container: another one for each, so that no sandbox knows another's.
 * Made from the object's id, which both sides know however the object was addressed or woken.
 */
export async function containerToken(env: Pick<Env, "STDIO_TOKEN">, id: DurableObjectId): Promise<string> {
  const bytes = new TextEncoder();
  const secret = bytes.encode(bridgeSecret(env));
  const key = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const signature = new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes.encode(id.toString())));
  return Array.from(signature, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
