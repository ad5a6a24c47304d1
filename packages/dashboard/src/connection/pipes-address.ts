// The address of a session of pipes beside a terminal's, which carries files. Pure.

/**
 * Of the same sandbox, and of nothing else of the session's address.
 * @param wsUrl The terminal's. @param script For `sh`, with its words after it.
 * @param cwd Where the shell is, as far as it has said: a relative path begins there.
 */
export function pipesAddress(wsUrl: string, base: string, script: readonly string[], cwd: string | undefined): string {
  const from = new URL(wsUrl, base);
  const address = new URL(from.pathname, from);
  const sandbox = from.searchParams.get("sandbox");
  if (sandbox !== null) address.searchParams.set("sandbox", sandbox);
  address.searchParams.append("cmd", "sh");
  for (const arg of ["-c", ...script]) address.searchParams.append("arg", arg);
  address.searchParams.set("tty", "0");
  if (cwd !== undefined) address.searchParams.set("cwd", cwd);
  return address.href;
}

const OF_FILES = /^(?:upload|download)-[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** A name for the session that carries files. */
export function fileSession(kind: "upload" | "download"): string {
  return `${kind}-${crypto.randomUUID()}`;
}

/** Whether a session carries files for a page: nothing that a person would open. */
export function isFileSession(session: string): boolean {
  return OF_FILES.test(session);
}
