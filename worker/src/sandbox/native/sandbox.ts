// The container's Durable Object over the platform's own API: starts the container for a request, passes the request on, and
// lets the container sleep when its sessions are gone. It holds nothing while the container runs: an alarm wakes it.

import { DurableObject } from "cloudflare:workers";
import { defined, parseListings } from "sandbox-stdio/core";
import { log, useLogLevel } from "../../base/log.ts";
import { type LifeEvent, noteLife } from "../../refusal/life.ts";
import { BELL_HOST } from "../bell.ts";
import {
  askBridgeInside,
  bridgeEnvironment,
  isArchive,
  isPreview,
  type SandboxEnv,
  unavailable,
  withinPatience,
} from "../bridge-inside.ts";
import { endOf, isNotListening } from "../container-end.ts";
import { BRIDGE_PORT, PORT_HEADER, type SandboxObject } from "../containers.ts";
import { readEgress } from "../egress.ts";
import { HangWatch, probeBridge } from "../hang-watch.ts";
import type { BridgeAnswer, BridgeQuestion } from "../question.ts";
import { sleepAfterMs, staysMs } from "../sleep.ts";
import { beginAnew, cannotStart, StartAttempts, type StartFailure } from "../start-attempts.ts";
import type { EgressProxy } from "./egress-proxy.ts";

/** How long a container may take to listen. */
const READY_PATIENCE_MS = 90_000;
const READY_POLL_MS = 100;
/** The longest that the platform allows. */
const MAX_INACTIVITY_MS = 6 * 3_600_000;
/** A container that was told to stop and has not stopped by then is ended: longer than the bridge takes for it. */
const STOP_PATIENCE_MS = 15_000;
const SIGTERM = 15;
const STOPPING = "stopping";

export class Sandbox extends DurableObject<SandboxEnv> implements SandboxObject {
  readonly #attempts: StartAttempts;
  readonly #hang: HangWatch;
  /** How the container of this life of the object ended, as far as it was seen. */
  #ended: Promise<StartFailure> | undefined;

  constructor(ctx: DurableObjectState, env: SandboxEnv) {
    super(ctx, env);
    useLogLevel(env);
    this.#attempts = new StartAttempts(ctx.storage.kv);
    this.#hang = new HangWatch(ctx, env);
    // The platform forgets it with each life of the object.
    if (this.isRunning()) ctx.waitUntil(this.#limitInactivity());
  }

  isRunning(): boolean {
    return this.ctx.container?.running === true;
  }

  askBridge(question: BridgeQuestion, sandbox = this.ctx.id.name ?? ""): Promise<BridgeAnswer | undefined> {
    return askBridgeInside(this.ctx, this.env, question, sandbox, this.#hang);
  }

  async endContainer(): Promise<void> {
    if (this.isRunning()) await this.ctx.container?.destroy();
  }

  override async fetch(request: Request): Promise<Response> {
    const { container } = this.ctx;
    if (container === undefined) return unavailable("this Worker runs without containers", 10);
    try {
      const answer = await this.#pass(container, request);
      if (answer !== undefined) return answer;
      this.#hang.suspect();
      return unavailable("what runs in the container does not answer", 3);
    } catch (error) {
      log.warn(`no way into container ${this.ctx.id}:`, error);
      const end = endOf(error);
      return unavailable(end.why, end.isCapacity ? 10 : 3);
    }
  }

  /** @returns undefined where what listens there does not answer in time. @throws {unknown} Where nothing listens. */
  async #pass(container: Container, request: Request): Promise<Response | undefined> {
    const port = container.getTcpPort(Number(request.headers.get(PORT_HEADER)));
    // Its body is not to be kept for another try.
    if (isPreview(request)) {
      if (!container.running) return unavailable("the container does not run", 3);
      return withinPatience(request, port.fetch(request));
    }
    const failure = this.#isReady(container) ? undefined : await this.#up(container);
    if (failure !== undefined) return cannotStart(failure);
    const isRepeatable = mayStart(request) && !isArchive(request);
    try {
      return await withinPatience(request, port.fetch(isRepeatable ? request.clone() : request));
    } catch (error) {
      if (!isNotListening(error) || !isRepeatable) throw error;
      // Nothing has reached it. It has ended just now, which the runtime does not say at once.
      const again = await this.#up(container);
      return again === undefined ? withinPatience(request, port.fetch(request)) : cannotStart(again);
    }
  }

  /** SLEEP_AFTER after the last caller came, or after the last look: is there still a session? */
  override async alarm(): Promise<void> {
    const { container, storage } = this.ctx;
    if (container?.running !== true) return;
    if (storage.kv.get(STOPPING) === true) {
      // A session that was made just before has its time (STOP_SECONDS).
      const { text = "" } = (await this.askBridge({ ask: "sessions" })) ?? {};
      const isBusy = parseListings(text)?.some(({ state }) => state === "running") === true;
      if (isBusy) return storage.setAlarm(Date.now() + STOP_PATIENCE_MS);
      log.warn(`container ${this.ctx.id} was told to stop and did not: it is ended`);
      return container.destroy();
    }
    const afterMs = sleepAfterMs(this.env.SLEEP_AFTER);
    const stays = staysMs(await this.askBridge({ ask: "sessions" }), afterMs);
    if (!this.isRunning()) return;
    if (stays > 0) return storage.setAlarm(Date.now() + stays);
    this.#note("container.slept");
    storage.kv.put(STOPPING, true);
    await storage.setAlarm(Date.now() + STOP_PATIENCE_MS);
    container.signal(SIGTERM);
  }

  #isReady(container: Container): boolean {
    return container.running && !this.#attempts.isUnderWay && this.ctx.storage.kv.get(STOPPING) !== true;
  }

  /** Resolves once the bridge listens. */
  #up(container: Container): Promise<StartFailure | undefined> {
    return this.#attempts.run(() => this.#start(container));
  }

  async #start(container: Container): Promise<StartFailure | undefined> {
    const from = Date.now();
    // One that ends while it is waited for had not failed to start: a new one is.
    const isThere = container.running && (await this.#listening(container)) !== "ended";
    if (!isThere) {
      this.ctx.storage.kv.delete(STOPPING);
      const hosts = readEgress(this.env);
      const hasBell = await this.#intercept(container, hosts);
      const bridge = await bridgeEnvironment(this.env, this.ctx.id, hasBell);
      container.start(startOptions(container, this.env, bridge, hosts === undefined));
      this.#ended = container.monitor().then(() => endOf(undefined), endOf);
      void this.#ended.then((end) =>
        log.info(`container ${this.ctx.id} ended after ${Date.now() - from} ms:`, end.why),
      );
    }
    await this.ctx.storage.setAlarm(Date.now() + sleepAfterMs(this.env.SLEEP_AFTER));
    await this.#limitInactivity();
    const state = await this.#listening(container);
    if (state === "ended") return this.#failed();
    if (state === "late")
      return { why: `nothing listened on its port ${BRIDGE_PORT} within ${READY_PATIENCE_MS / 1000} s` };
    if (!isThere) this.#note("container.started", { ms: Date.now() - from });
    return undefined;
  }

  async #listening(container: Container): Promise<"yes" | "ended" | "late"> {
    const lateMs = Date.now() + READY_PATIENCE_MS;
    while (Date.now() < lateMs) {
      if (await this.#listens(container)) return "yes";
      if (!container.running) return "ended";
      await new Promise((resolve) => setTimeout(resolve, READY_POLL_MS));
    }
    return "late";
  }

  /** @throws {unknown} Where the platform had no container to give: that is not the image's fault. */
  async #failed(): Promise<StartFailure> {
    const end = await (this.#ended ?? endOf(undefined));
    if ("isCapacity" in end && end.isCapacity === true) throw new Error(end.why);
    if (end.exitCode === undefined) await beginAnew(this.ctx);
    this.#note("container.failed", defined({ code: end.exitCode }));
    return end;
  }

  #note(event: LifeEvent, more: { readonly ms?: number; readonly code?: number } = {}): void {
    noteLife(this.env, event, { sandbox: this.ctx.id.name ?? String(this.ctx.id), ...more });
  }

  async #listens(container: Container): Promise<boolean> {
    try {
      await probeBridge(container);
      return true;
    } catch {
      return false; // Not yet, or not any more.
    }
  }

  /**
   * @param hosts Undefined: all traffic goes its own way but the bridge's calls of session objects.
   * @returns Whether these come here.
   */
  async #intercept(container: Container, hosts: readonly string[] | undefined): Promise<boolean> {
    const { EgressProxy: proxyOf } = this.ctx.exports as unknown as { EgressProxy: LoopbackServiceStub<EgressProxy> };
    const proxy = proxyOf({ props: { containerId: this.ctx.id.toString(), hosts: hosts ?? [] } });
    if (hosts !== undefined) {
      await container.interceptAllOutboundHttp(proxy);
      await container.interceptOutboundHttps("*", proxy);
    }
    try {
      await container.interceptOutboundHttp(BELL_HOST, proxy);
      return true;
    } catch (error) {
      // Sessions are looked at instead, and not parked.
      log.warn(`container ${this.ctx.id} can't call session objects:`, error);
      return false;
    }
  }

  /** Should no alarm come, the platform itself ends a container that gets no requests. */
  async #limitInactivity(): Promise<void> {
    const ms = 2 * sleepAfterMs(this.env.SLEEP_AFTER) + 60_000;
    await this.ctx.container?.setInactivityTimeout(Math.min(MAX_INACTIVITY_MS, ms));
  }
}

/** Whether a new container has anything for it: not for a process that was in the one before, nor for another's port. */
function mayStart({ url, headers }: Request): boolean {
  return headers.get(PORT_HEADER) === String(BRIDGE_PORT) && !new URL(url).searchParams.has("incarnation");
}

const SIZES = ["lite", "standard-1", "standard-2", "standard-3", "standard-4"] as const;
const DEFAULT_SIZE = "standard-1";

/** @param hasInternet Whether the container reaches the internet by itself. */
function startOptions(
  container: Container,
  { CONTAINER_SIZE }: Pick<SandboxEnv, "CONTAINER_SIZE">,
  env: Record<string, string>,
  hasInternet: boolean,
): ContainerStartupOptions {
  const common = { env, enableInternet: hasInternet };
  const [image] = Object.values(container.images ?? {});
  // Under the default policy image and size are of the application, and the platform takes none; the type knows only the other.
  if (image === undefined) return common as unknown as ContainerStartupOptions;
  return { ...common, image, instance: SIZES.find((size) => size === CONTAINER_SIZE) ?? DEFAULT_SIZE };
}
