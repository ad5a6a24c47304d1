// The address of a session of pipes that carries files beside a terminal's session. Pure.

/**
 * Takes only the sandbox from the terminal's address.
 * @param script For `sh`, with its arguments after it. @param cwd The shell's directory if known: relative paths begin there.
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

/** A name for a session that carries files. */
export function fileSession(kind: "upload" | "download"): string {
  return `${kind}-${crypto.randomUUID()}`;
}

/** Whether a session carries files for a page. */
export function isFileSession(session: string): boolean {
  return OF_FILES.test(session);
}
