// The bridge's settings, read from its environment.

import { LOG_LEVELS, type LogLevel, readLogLevel } from "sandbox-stdio/core";
import { type ChildUser, readChildUser } from "./child-user.ts";
import type { LoginSettings } from "./logins.ts";

/** Platforms wait less than this between SIGTERM and SIGKILL. */
const MAX_STOP_SECONDS = 3_600;

/** More than jobs write whose output is read later, and little enough to leave the processor to the rest of the container. */
const UNATTENDED_BYTES_PER_SECOND = 1024 * 1024;

export type BridgeSettings = {
  readonly hostname: string;
  readonly port: number;
  /** The Unix socket to listen on instead of `hostname` and `port`. */
  readonly socket: string | undefined;
  /** The secret that every request but `/healthz` must show. */
  readonly token: string;
  /** On a laptop: each sandbox gets its directory below this one. Undefined in a container, which is one sandbox. */
  readonly sandboxRoot: string | undefined;
  /** In a container: the directory in which a process starts unless its creator names another. */
  readonly workspace: string;
  /** The user of the processes. Undefined: the bridge's own. */
  readonly childUser: ChildUser | undefined;
  /** Present if sandboxes belong to users of this machine. */
  readonly logins: LoginSettings | undefined;
  /** The command behind which all programs run. Absent: they run here. */
  readonly exec: readonly string[] | undefined;
  /** Seconds that processes have after SIGTERM; 0: they are ended at once. */
  readonly stopSeconds: number;
  /** How many bytes a second a process may write while it has no reader; infinity for no limit. */
  readonly unattendedBytesPerSecond: number;
  /** The address for calls to session objects that have gone. */
  readonly bellUrl: string | undefined;
  readonly logLevel: LogLevel;
  /** Names the sessions that are traced. Undefined: no session is. */
  readonly trace: string | undefined;
};

export type SettingsResult =
  | { readonly ok: true; readonly settings: BridgeSettings }
  | { readonly ok: false; readonly problem: string };

/** The bridge's variables. Those of its secret are read before these, by `receiveSecret`. */
export interface BridgeVariables {
  /** Where the bridge calls a session object that has gone (H20a); the Worker sets it. Default: nowhere. */
  readonly STDIO_BELL_URL?: string | undefined;
  /** The bridge's secret, 16 characters or more. Required, or `STDIO_TOKEN_FD`. */
  readonly STDIO_TOKEN?: string | undefined;
  /** The descriptor from which the secret is read instead. Default: none. */
  readonly STDIO_TOKEN_FD?: string | undefined;
  /** The port that it listens on. Default: 8080. */
  readonly PORT?: string | undefined;
  /** The address that it listens on. Default: 0.0.0.0. */
  readonly HOST?: string | undefined;
  /** A Unix socket to listen on instead of HOST and PORT, as `serve` does, in a folder that only its user can enter. Default: none. */
  readonly STDIO_SOCKET?: string | undefined;
  /** Where a process starts unless its creator says otherwise. Default: `/workspace`. */
  readonly STDIO_WORKSPACE?: string | undefined;
  /** Local only: a directory per sandbox below this one. Default: none. */
  readonly SANDBOX_ROOT?: string | undefined;
  /** Bytes a second that a process may write without a reader; 0: no limit. Default: 1048576. */
  readonly UNATTENDED_BYTES_PER_SECOND?: string | undefined;
  /** How long processes may run on after SIGTERM; 0: ended at once. The Worker sets it in containers. Default: 0. */
  readonly STOP_SECONDS?: string | undefined;
  /** A name, `UID` or `UID:GID` as which processes run, without privileges. Default: the bridge's user. */
  readonly CHILD_USER?: string | undefined;
  /** Of `serve`: the list of accounts by whose users sandboxes run, and their cgroup, as JSON. Default: none. */
  readonly STDIO_LOGINS?: string | undefined;
  /** Of `serve`: a command behind which all programs run, as a JSON array of its words. Default: none. */
  readonly STDIO_EXEC?: string | undefined;
  /** As the Worker's, which sets it in containers. Default: `warn`. */
  readonly LOG_LEVEL?: string | undefined;
  /** As the Worker's, which sets it in containers. Default: none. */
  readonly STDIO_TRACE?: string | undefined;
}

type Environment = BridgeVariables & Readonly<Record<string, string | undefined>>;

/** @param token The secret: it was removed from the environment. */
export function readSettings(env: Environment, token: string): SettingsResult {
  const port = Number(env.PORT ?? "8080");
  if (!Number.isInteger(port) || port < 0 || port > 65535) {
    return { ok: false, problem: `PORT must be a port number, not "${env.PORT}"` };
  }
  const child = readChildUser(env.CHILD_USER);
  if (!child.ok) return child;
  const logLevel = readLogLevel(env.LOG_LEVEL);
  if (logLevel === undefined) return { ok: false, problem: `LOG_LEVEL must be one of ${LOG_LEVELS.join(", ")}` };
  const stopSeconds = Number(env.STOP_SECONDS || "0");
  if (!(stopSeconds >= 0 && stopSeconds <= MAX_STOP_SECONDS)) {
    return {
      ok: false,
      problem: `STOP_SECONDS must be a number from 0 to ${MAX_STOP_SECONDS}, not "${env.STOP_SECONDS}"`,
    };
  }
  const unattended = Number(env.UNATTENDED_BYTES_PER_SECOND || UNATTENDED_BYTES_PER_SECOND);
  if (!(unattended >= 0)) {
    const given = env.UNATTENDED_BYTES_PER_SECOND;
    return { ok: false, problem: `UNATTENDED_BYTES_PER_SECOND must be a number of bytes, or 0, not "${given}"` };
  }
  const bellUrl = env.STDIO_BELL_URL || undefined;
  if (bellUrl !== undefined && !/^(https?|unix):$/.test(URL.parse(bellUrl)?.protocol ?? ""))
    return { ok: false, problem: `STDIO_BELL_URL must be an HTTP URL, not "${bellUrl}"` };
  return {
    ok: true,
    settings: {
      hostname: env.HOST ?? "0.0.0.0",
      port,
      socket: env.STDIO_SOCKET || undefined,
      token,
      workspace: env.STDIO_WORKSPACE ?? "/workspace",
      stopSeconds,
      unattendedBytesPerSecond: unattended === 0 ? Number.POSITIVE_INFINITY : unattended,
      logLevel,
      trace: env.STDIO_TRACE,
      childUser: child.user,
      // Both by our own `serve`, which has checked them.
      logins: env.STDIO_LOGINS ? (JSON.parse(env.STDIO_LOGINS) as LoginSettings) : undefined,
      exec: env.STDIO_EXEC ? (JSON.parse(env.STDIO_EXEC) as string[]) : undefined,
      sandboxRoot: env.SANDBOX_ROOT,
      bellUrl,
    },
  };
}
