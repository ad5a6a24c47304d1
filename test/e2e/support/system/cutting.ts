// Cuts the connections of a command line that works through the relay, on both hops in turn, from when its session runs until
// its work is done.
import { setTimeout as delay } from "node:timers/promises";
import { api, cutInnerHop, cutRelay, type Person } from "./system.ts";
import { until } from "./wait.ts";

/** Enough to fall into every phase of a small transfer; not so many that a slow machine does nothing but come back. */
const MAX_CUTS = 10;
const PAUSE_MS = 250;

async function hasRunning(who: Person): Promise<boolean> {
  const { sessions } = (await (await api(who, "/api/sandboxes/default/sessions")).json()) as {
    sessions: { state: string }[];
  };
  return sessions.some(({ state }) => state === "running");
}

/** @returns What the work comes to, and how often it was cut. @throws Where the work does, or nothing runs. */
export async function whileCut<T>(who: Person, work: Promise<T>): Promise<{ result: T; cuts: number }> {
  let isDone = false;
  const watched = work.finally(() => {
    isDone = true;
  });
  watched.catch(() => undefined);
  await until("the session to run", async () => isDone || (await hasRunning(who)));
  let cuts = 0;
  for (; cuts < MAX_CUTS && !isDone; cuts += 1) {
    await (cuts % 2 === 0 ? cutRelay() : cutInnerHop());
    await Promise.race([watched.catch(() => undefined), delay(PAUSE_MS)]);
  }
  return { result: await watched, cuts };
}
