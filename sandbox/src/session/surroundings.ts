// The surroundings of a process: its directory, user, environment and panes.

import { applyEnvPolicy, type EnvPolicy } from "sandbox-stdio/codex";
import type { ProcessWish, Trace } from "sandbox-stdio/core";
import type { StartOrder } from "sandbox-stdio/programs";
import { type ChildUser, ownUserName } from "../base/child-user.ts";
import type { Namespace } from "../base/namespace.ts";
import { RUNTIME_OPTIONS } from "../base/re-exec.ts";
import type { BridgeSettings } from "../base/settings.ts";
import type { SessionPanes } from "../panes/session-panes.ts";
import type { ChildProcess, OutputSink, ProcessEvents, StartFault } from "../process/process.ts";
import type { BellLine } from "./bell.ts";

/** The surroundings in which the process of a session is started. */
export type Surroundings = {
  readonly env: Record<string, string>;
  readonly home: string;
  /** Absent: the bridge's own user. */
  readonly user?: ChildUser | undefined;
  /** Absent: the processes see the bridge's own paths. */
  readonly namespace?: Namespace | undefined;
  /** Present if the program runs behind this command. */
  readonly exec?: { readonly command: readonly string[]; readonly sandbox: string } | undefined;
  readonly trace?: Trace | undefined;
  /** How many bytes a second the process may write while it has no reader. Absent: no limit. */
  readonly unattendedBytesPerSecond?: number;
  /** How its session object is called. Absent: it can't be called. */
  readonly bell?: BellLine | undefined;
  /** Present if the session runs under tmux. */
  readonly panes?: SessionPanes;
  /** Present if a pane takes the process's place: opens it. */
  readonly openPane?: (sink: OutputSink, events: ProcessEvents) => ChildProcess | StartFault;
  /** The size that tmux gives that pane now. */
  readonly paneSize?: { readonly cols: number; readonly rows: number } | undefined;
};

/** The bridge's own variables, its secret among them: processes don't get them. */
const PRIVATE_PREFIX = "STDIO_";
const ABOUT_TERMINALS = ["TERM", "COLORTERM"] as const;
const OWN = new Set<string>([
  "PORT",
  "HOST",
  "SANDBOX_ROOT",
  "CHILD_USER",
  "LOG_LEVEL",
  "STOP_SECONDS",
  "UNATTENDED_BYTES_PER_SECOND",
  ...Object.keys(RUNTIME_OPTIONS),
]);

export function environmentOf(
  settings: BridgeSettings,
  home: string,
  wish: Pick<ProcessWish, "tty" | "env">,
  policy?: StartOrder["envPolicy"],
  user = settings.childUser,
): Record<string, string> {
  usual ??= usualEnvironment(process.env);
  // A login gets nothing of the bridge's own, but the mark by which `serve` ends what a bridge leaves behind.
  const { SBX_RUN_ID } = process.env;
  const ofLogin = { SHELL: user?.shell || "/bin/sh", SBX_RUN_ID };
  const env = user?.login === undefined ? { ...usual } : usualEnvironment(ofLogin);
  if (user !== undefined) {
    env.HOME = user.home ?? home;
    env.USER = env.LOGNAME = user.name ?? String(user.uid);
    delete env.MAIL;
  }
  if (settings.sandboxRoot !== undefined) env.HOME = home;
  env.HOME ??= home;
  // A program that reads these would print control sequences into its pipe.
  if (!wish.tty) for (const name of ABOUT_TERMINALS) delete env[name];
  // The Worker has checked its shape.
  const kept = policy === undefined ? env : applyEnvPolicy(env, policy as EnvPolicy);
  // As entries: to assign to a variable named `__proto__` would change the prototype.
  return { ...kept, ...Object.fromEntries(wish.env) };
}

/** Made once: the bridge's environment does not change, and reading it takes longer than the rest of a start. */
let usual: Readonly<Record<string, string>> | undefined;

function usualEnvironment(from: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(from)) {
    if (value !== undefined && !name.startsWith(PRIVATE_PREFIX) && !OWN.has(name)) env[name] = value;
  }
  env.TERM = "xterm-256color";
  env.COLORTERM = "truecolor";
  env.LANG ??= "C.UTF-8";
  env.USER ??= env.LOGNAME ?? ownUserName();
  env.LOGNAME ??= env.USER;
  env.PATH ??= "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  return env;
}
