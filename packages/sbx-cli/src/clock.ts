// This process's clock and timers, as those parts take them that are handed theirs.

export const processClock = {
  now: (): number => performance.now(),
  /** Calls back once after so many ms. The result cancels it. */
  setTimer: (ms: number, callback: () => void): (() => void) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};
