// The container's Durable Object: a class of the SDK's, with the secret of the bridge inside it, and with two things more: it asks the
// bridge without ever starting the container, and lets no container sleep that still has sessions.

import { Sandbox as SandboxBase } from "@cloudflare/sandbox";
import { defined } from "sandbox-stdio/core";
import { log, useLogLevel } from "../../base/log.ts";
import { noteLife } from "../../refusal/life.ts";
import { answerContainer, BELL_HOST, type BellEnv } from "../bell.ts";
import {
  askBridgeInside,
  bridgeEnvironment,
  isPreview,
  type SandboxEnv,
  unavailable,
  withinPatience,
} from "../bridge-inside.ts";
import { endOf } from "../container-end.ts";
import { BRIDGE_PORT, type SandboxObject, SLEEP_AFTER } from "../containers.ts";
import { readEgress } from "../egress.ts";
import { HangWatch } from "../hang-watch.ts";
import type { BridgeAnswer, BridgeQuestion } from "../question.ts";
import { sleepAfterMs, staysMs } from "../sleep.ts";
import { beginAnew, cannotStart, StartAttempts, type StartFailure } from "../start-attempts.ts";

/** As the SDK has it where it starts a container by itself. */
const START_PATIENCE = { instanceGetTimeoutMS: 30_000, portReadyTimeoutMS: 90_000, waitInterval: 300 };

/** The SDK's class, or one of the caller's own that extends it. */
// biome-ignore lint/suspicious/noExplicitAny: TypeScript takes no other arguments for a class that a mixin extends
export type SandboxClass = new (...args: any[]) => SandboxBase<SandboxEnv>;

export type StdioSandboxClass<Base extends SandboxClass> = new (
  ctx: DurableObjectState,
  env: SandboxEnv,
) => InstanceType<Base> & SandboxObject;

/**
 * @param Base A class that extends the SDK's `Sandbox`.
 * @param complete Adds settings to the environment that the runtime gives.
 */
export function withStdio<Base extends SandboxClass>(
  Base: Base,
  complete: (env: SandboxEnv) => SandboxEnv = (env) => env,
): StdioSandboxClass<Base> {
  class Stdio extends Base implements SandboxObject {
    readonly #hang = new HangWatch(this.ctx, this.env);
    readonly #attempts = new StartAttempts(this.ctx.storage.kv);
    readonly #env: SandboxEnv;

    // biome-ignore lint/suspicious/noExplicitAny: the constructor of a mixin must be like this
    constructor(...args: any[]) {
      super(...args);
      const [ctx, given] = args as [DurableObjectState, SandboxEnv];
      const env = complete(given);
      this.#env = env;
      useLogLevel(env);
      if (env.SLEEP_AFTER) this.sleepAfter = env.SLEEP_AFTER;
      const hosts = readEgress(env);
      if (hosts !== undefined) {
        // The SDK reads these when it starts the container: without the internet, HTTP and HTTPS go through ContainerProxy,
        // which passes requests to these hosts. All other traffic goes nowhere.
        this.enableInternet = false;
        this.interceptHttps = true;
        this.allowedHosts = [...hosts, BELL_HOST];
      }
      void ctx.blockConcurrencyWhile(async () => {
        const { outboundByHost } = this.constructor as typeof SandboxBase;
        const hasBell = outboundByHost?.[BELL_HOST] !== undefined;
        this.envVars = { ...this.envVars, ...(await bridgeEnvironment(env, ctx.id, hasBell)) };
      });
    }

    /** The stored state may be of a container that is gone. */
    isRunning(): boolean {
      return this.ctx.container?.running === true;
    }

    askBridge(question: BridgeQuestion, sandbox = this.ctx.id.name ?? ""): Promise<BridgeAnswer | undefined> {
      return askBridgeInside(this.ctx, this.#env, question, sandbox, this.#hang);
    }

    async endContainer(): Promise<void> {
      if (this.isRunning()) await this.destroy();
    }

    /** The calls `wsConnect` and `containerFetch` of the SDK come to this. */
    override async containerFetch(
      requestOrUrl: Request | string | URL,
      portOrInit?: number | RequestInit,
      portParam?: number,
    ): Promise<Response> {
      if (!this.isRunning() && isPreview(requestOrUrl)) return unavailable("the container does not run", 3);
      if (!this.isRunning() || this.#attempts.isUnderWay) {
        const failure = await this.#attempts.run(() => this.#start());
        if (failure !== undefined) return cannotStart(failure);
      }
      const answer = super.containerFetch(requestOrUrl, portOrInit, portParam);
      if (!this.isRunning()) return answer; // It was not started, and the SDK says why.
      const inTime = await withinPatience(requestOrUrl, answer);
      if (inTime === undefined) this.#hang.suspect();
      return inTime ?? unavailable("what runs in the container does not answer", 3);
    }

    /** A failure that is not the image's is left to the SDK, which tries again and has words for it. */
    async #start(): Promise<StartFailure | undefined> {
      const from = Date.now();
      const sandbox = this.ctx.id.name ?? String(this.ctx.id);
      try {
        await this.startAndWaitForPorts({ ports: BRIDGE_PORT, cancellationOptions: START_PATIENCE });
        noteLife(this.#env, "container.started", { sandbox, ms: Date.now() - from });
        return undefined;
      } catch (error) {
        log.warn(`container ${this.ctx.id} did not start:`, error);
        const { why, exitCode, isCapacity } = endOf(error);
        noteLife(this.#env, "container.failed", {
          sandbox,
          ms: Date.now() - from,
          ...defined({ code: exitCode }),
        });
        if (exitCode !== undefined) return { why, exitCode };
        if (isCapacity !== true && !this.isRunning()) await beginAnew(this.ctx);
        return undefined;
      }
    }

    /**
     * No client has been attached for a while. A process may well run on alone: the bridge ends it when its `keep` is over,
     * and forgets it when its exit has been told. Until then this is asked again after each such while.
     */
    override async onActivityExpired(): Promise<void> {
      const stays = staysMs(await this.askBridge({ ask: "sessions" }), sleepAfterMs(this.#env.SLEEP_AFTER));
      // A bridge that is gone takes its container along.
      if (stays > 0 && this.isRunning()) return;
      noteLife(this.#env, "container.slept", { sandbox: this.ctx.id.name ?? String(this.ctx.id) });
      await super.onActivityExpired();
    }
  }
  // The compiler does not follow what a generic base and a mixin make together.
  return Stdio as unknown as StdioSandboxClass<Base>;
}

/** The class of our own Worker's containers, before `withStdio`. */
export class UsualSandbox extends SandboxBase<SandboxEnv> {
  override sleepAfter: string | number = SLEEP_AFTER;
}

/** One of them, as the Worker calls it. */
export type SdkSandbox = InstanceType<StdioSandboxClass<typeof UsualSandbox>>;

/**
 * Has a container's calls to {@link BELL_HOST} come to this Worker. By the class, and where it is made: the proxy for a
 * container's traffic may run where no object of the class does.
 * @param complete As `withStdio` has it.
 */
export function answerCallsOf(Class: unknown, complete: (env: SandboxEnv) => SandboxEnv): void {
  const sandbox = Class as typeof UsualSandbox;
  sandbox.outboundByHost = {
    ...sandbox.outboundByHost,
    [BELL_HOST]: (request, env, { containerId }) =>
      answerContainer(request, complete(env as unknown as SandboxEnv) as unknown as BellEnv, containerId),
  };
}
