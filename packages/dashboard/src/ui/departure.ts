// The browser's question before a page goes.

/** Has the browser ask before it closes or reloads the page. @returns How to stop. */
export function warnOnClose(): () => void {
  const stop = new AbortController();
  window.addEventListener("beforeunload", (event) => event.preventDefault(), { signal: stop.signal });
  return () => stop.abort();
}
