// The container's Durable Object: the SDK's, with the secret of the bridge inside it, and with two things more: it asks the
// bridge without ever starting the container, and lets no container sleep that still has sessions.

import { Sandbox as SandboxBase } from "@cloudflare/sandbox";
import { parseListings } from "sandbox-stdio/core";
import type { BridgeAnswer, BridgeQuestion } from "../../bridge/question.ts";
import { useLogLevel } from "../../log.ts";
import { askBridgeInside, bridgeEnvironment, type SandboxEnv } from "../bridge-inside.ts";
import { type SandboxObject, SLEEP_AFTER } from "../containers.ts";
import { readEgress } from "../egress.ts";

export class Sandbox extends SandboxBase<SandboxEnv> implements SandboxObject {
  constructor(ctx: DurableObjectState<Record<string, never>>, env: SandboxEnv) {
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
      this.envVars = { ...this.envVars, ...(await bridgeEnvironment(env, ctx.id)) };
    });
  }

  /** What is stored may be of a container that is gone. */
  isRunning(): boolean {
    return this.ctx.container?.running === true;
  }

  askBridge(question: BridgeQuestion, sandbox = this.ctx.id.name ?? ""): Promise<BridgeAnswer | undefined> {
    return askBridgeInside(this.ctx, this.env, question, sandbox);
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
