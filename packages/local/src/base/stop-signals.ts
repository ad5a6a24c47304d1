// The ways in which a task is told to stop: signals, and the end of the bootstrap that started it. Knows no task.

/**
 * Aborts at the first SIGINT, SIGTERM or SIGHUP, or when run.mjs is gone. Later ones change nothing: Ctrl+C arrives
 * twice, once from the terminal and once through run.mjs.
 */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, stop);
  process.on("disconnect", stop);
  // Listening would keep this process alive for as long as run.mjs lives, which waits for this process.
  process.channel?.unref();
  return controller.signal;
}

/** Resolves once the signal is aborted. */
export function abortOf(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}
