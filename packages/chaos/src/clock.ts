// A clock that runs faster than the real one, so that what waits for 40 seconds by design waits for less here. Everything
// that uses one clock sees the same proportions.

export type Clock = {
  /** Milliseconds of this clock; never goes back. */
  now(): number;
  /** Calls back once, after so many ms of this clock. The result cancels it. */
  setTimer(ms: number, callback: () => void): () => void;
};

/** @param speed How many of its seconds pass in a real one. */
export function clockOf(speed: number): Clock {
  return {
    now: () => performance.now() * speed,
    setTimer: (ms, callback) => {
      const timer = setTimeout(callback, ms / speed);
      return () => clearTimeout(timer);
    },
  };
}
