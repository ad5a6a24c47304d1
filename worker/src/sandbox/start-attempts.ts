// How often a container is started that does not come up. Three times; then every caller is told why, and no call starts it again
// for a while.

import { log } from "../base/log.ts";

export type StartFailure = {
  /** Why, in words. */
  readonly why: string;
  /** With which code its program ended, where it did. */
  readonly exitCode?: number;
};

type Kept = StartFailure & { readonly untilMs: number };

const KEY = "start-failure";
const ANEW = "began-anew";
/** The waits before the second and the third start. */
export const START_WAITS_MS: readonly number[] = [1_000, 4_000];
/** How long no call starts it again. A new image, which is deployed in the meantime, is tried at the latest then. */
const REST_MS = 120_000;

/** The answer that is final: no client tries again by itself (4422). */
export function cannotStart({ why, exitCode }: StartFailure): Response {
  const times = `${START_WAITS_MS.length + 1} times`;
  const message =
    exitCode === undefined
      ? `the container could not be started, ${times}: ${why}`
      : `the container ended ${times} while it started, with exit code ${exitCode}: ${why}`;
  return Response.json({ error: "container_failed", message }, { status: 422 });
}

/**
 * No program came to run. A runtime may hold on to what is left of a container that is gone, and then starts none for this object
 * any more: a new object gets a new way to it, once in a while. Who waits is told to come again.
 */
export async function beginAnew(state: DurableObjectState): Promise<void> {
  const { id, storage } = state;
  const now = Date.now();
  if (now - (storage.kv.get<number>(ANEW) ?? 0) < REST_MS) return;
  storage.kv.put(ANEW, now);
  await storage.sync();
  log.warn(`container ${id} could not be started: its object begins anew`);
  state.abort();
}

export class StartAttempts {
  readonly #storage: SyncKvStorage;
  #underWay: Promise<StartFailure | undefined> | undefined;

  constructor(storage: SyncKvStorage) {
    this.#storage = storage;
  }

  /** The last failure, while it counts. */
  failure(nowMs: number): StartFailure | undefined {
    const kept = this.#storage.get<Kept>(KEY);
    return kept !== undefined && nowMs < kept.untilMs ? kept : undefined;
  }

  /** Whether callers of {@link run} wait for a start. */
  get isUnderWay(): boolean {
    return this.#underWay !== undefined;
  }

  /**
   * Starts until it runs, at most three times. All callers that come meanwhile wait for the same start.
   * @param start undefined once it runs; a failure where its program ended. An error that it throws is not counted.
   */
  run(start: () => Promise<StartFailure | undefined>): Promise<StartFailure | undefined> {
    this.#underWay ??= this.#try(start).finally(() => {
      this.#underWay = undefined;
    });
    return this.#underWay;
  }

  async #try(start: () => Promise<StartFailure | undefined>): Promise<StartFailure | undefined> {
    const known = this.failure(Date.now());
    if (known !== undefined) return known;
    let failure = await start();
    for (const waitMs of START_WAITS_MS) {
      if (failure === undefined) break;
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      failure = await start();
    }
    if (failure === undefined) this.#storage.delete(KEY);
    else this.#storage.put(KEY, { ...failure, untilMs: Date.now() + REST_MS } satisfies Kept);
    return failure;
  }
}
