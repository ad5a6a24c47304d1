// Calls session objects that have gone, when there is something to tell them: a request to the address that the platform passes on to
// the Worker. It shows a hash of the bridge's secret, which is good for nothing else: any program may listen there while the Worker is away.

import { createHash } from "node:crypto";
import { request as openRequest } from "node:http";
import { request as openSecureRequest } from "node:https";
import { type InnerServer, type Progress, WakeupSchedule } from "sandbox-stdio/core";
import { log } from "../base/log.ts";

/** The address of the call, and the token that is shown there. */
type BellSettings = { readonly url: string; readonly token: string };

const ANSWER_TIMEOUT_MS = 10_000;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 10_000;
/** The Worker's answer to a call that names no session, if it knows the bridge's secret. */
const TEST_CALL_ANSWERED = 204;

/**
 * The way to all session objects. Test calls find out when it is open: the part of the platform that passes on a container's calls
 * may start later than the container, or be missing.
 */
export class BellLine {
  readonly #settings: BellSettings;
  readonly #opened: () => void;
  #isOpen = false;

  /** @param opened Called once, when {@link isOpen} becomes true. */
  constructor(settings: BellSettings, opened: () => void) {
    this.#settings = settings;
    this.#opened = opened;
    void this.#try(FIRST_PAUSE_MS);
  }

  /** Whether a test call has been answered. It stays so: a call that fails is made again. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /**
   * Not by fetch(): that takes a proxy from the environment, which would get the calls. This doesn't follow redirects either.
   * @returns The status of the answer. @throws {Error} If there is none.
   */
  call(whom: { readonly session: string; readonly incarnation: string } | Record<string, never>): Promise<number> {
    const { url, token } = this.#settings;
    const shown = createHash("sha256").update(`bell ${token}`).digest("hex");
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    // Of `serve`: a socket in its own folder.
    const [, socketPath] = /^unix:(.*)$/.exec(url) ?? [];
    const address = socketPath === undefined ? url : "http://inner/internal/bell";
    const request = (url.startsWith("https:") ? openSecureRequest : openRequest)(address, {
      ...(socketPath !== undefined && { socketPath }),
      method: "POST",
      headers: { authorization: `Bearer ${shown}`, "content-type": "application/json" },
      agent: false,
    });
    const timer = setTimeout(() => {
      reject(new Error("no answer in time"));
      request.destroy();
    }, ANSWER_TIMEOUT_MS);
    request.once("response", (answer) => {
      answer.once("end", () => resolve(answer.statusCode ?? 0)).once("error", reject);
      answer.resume();
    });
    request.once("error", reject);
    request.end(JSON.stringify(whom));
    return promise.finally(() => clearTimeout(timer));
  }

  async #try(pauseMs: number): Promise<void> {
    try {
      this.#isOpen = (await this.call({})) === TEST_CALL_ANSWERED;
    } catch (error) {
      log.debug("session objects can't be called yet:", messageOf(error));
    }
    if (this.#isOpen) {
      log.debug("session objects can be called");
      this.#opened();
    } else setTimeout(() => void this.#try(Math.min(MAX_PAUSE_MS, pauseMs * 2)), pauseMs).unref();
  }
}

/** The calls to one session's object. */
export class Bell extends WakeupSchedule {
  readonly #line: BellLine | undefined;
  readonly #incarnation: string;
  #isCalling = false;

  /** @param line Undefined: no session object can be called. */
  constructor(line: BellLine | undefined, incarnation: string) {
    super();
    this.#line = line;
    this.#incarnation = incarnation;
  }

  get canCall(): boolean {
    return this.#line?.isOpen === true;
  }

  /** The object has gone. @param last Its `parking` is undefined if the object did not say how to call it. */
  gone({ parking, isStopLate }: Pick<InnerServer, "parking" | "isStopLate">, nowMs: number): void {
    if (parking === undefined || !this.canCall) return;
    this.park(parking, nowMs);
    if (isStopLate) this.stopping();
  }

  /** Whether the process counts as attended although no client is attached. */
  isKept(nowMs: number): boolean {
    return this.keptUntilMs > nowMs;
  }

  /** When to check whether the process still counts as attended; infinity for never. */
  keptEndMs(nowMs: number): number {
    return this.isKept(nowMs) ? this.keptUntilMs : Number.POSITIVE_INFINITY;
  }

  override nextMs(progress: Progress): number {
    return this.#isCalling ? Number.POSITIVE_INFINITY : super.nextMs(progress);
  }

  /** Calls if a call is due. @returns Resolves when the call is over: another may be due. Undefined: none was due. */
  tick(progress: Progress, nowMs: number): Promise<void> | undefined {
    const { parking } = this;
    if (parking === undefined || this.#line === undefined || this.nextMs(progress) > nowMs) return undefined;
    this.called(progress, nowMs);
    return this.#call(this.#line, parking.bell);
  }

  async #call(line: BellLine, session: string): Promise<void> {
    this.#isCalling = true;
    try {
      const status = await line.call({ session, incarnation: this.#incarnation });
      if (status >= 300) log.warn(`a session object that was called answered with status ${status}`);
    } catch (error) {
      log.warn("a session object can't be called:", messageOf(error));
    }
    this.#isCalling = false;
  }
}

function messageOf(error: unknown): unknown {
  return error instanceof Error ? error.message : error;
}
