// The facts that a session's host is told when it starts, beside the query. Types only.

/** How a process is started that no client attaches to at once. */
export type Unattended = {
  /** Which attempt of a program's has started it, where it says so. */
  readonly attempt: string | undefined;
  readonly keepExitedMs: number;
  readonly stdin: Uint8Array;
  readonly isStdinEnded: boolean;
  /** Whether its output waits for its first client. */
  readonly isAwaited: boolean;
};

export type HostNames = { readonly sandbox: string; readonly label: string; readonly session: string };
