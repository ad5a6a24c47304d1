// A Durable Object's clock, made to run faster: what it waits for by design takes less, and everything keeps its
// proportion. For the chaos kit.

const realNow = Date.now;
const realSetTimeout = globalThis.setTimeout;
let startedAt = 0;
let speed = 1;

function fast(realMs: number): number {
  return startedAt + (realMs - startedAt) * speed;
}

function real(fastMs: number): number {
  return startedAt + (fastMs - startedAt) / speed;
}

/** All objects of an isolate share one clock: the first call decides. @param factor Seconds of it in a real one. */
export function speedUp(ctx: DurableObjectState, factor: number): void {
  if (speed === 1 && factor !== 1) {
    speed = factor;
    startedAt = realNow(); // Not before: outside of a request this clock stands still.
    Date.now = () => fast(realNow());
    const fastSetTimeout = (callback: () => void, ms = 0) => realSetTimeout(callback, ms / speed);
    globalThis.setTimeout = fastSetTimeout as typeof globalThis.setTimeout;
  }
  const { storage } = ctx;
  const setAlarm = storage.setAlarm.bind(storage);
  // The runtime rings by the real clock.
  storage.setAlarm = (at, options) => setAlarm(real(Number(at)), options);
  // The runtime's own times are to be compared with this clock's.
  const timestampOf = ctx.getWebSocketAutoResponseTimestamp.bind(ctx);
  ctx.getWebSocketAutoResponseTimestamp = (socket) => {
    const answered = timestampOf(socket);
    return answered === null ? null : new Date(fast(answered.getTime()));
  };
}
