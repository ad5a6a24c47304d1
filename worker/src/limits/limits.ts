// How much one address, one user and one tenant may have at a time: the settings, read and checked in one place.

import { type BudgetLimits, DEFAULT_BUDGET, MAX_CLIENTS, MAX_PARK_SECONDS, MIB, PLAIN_RATE } from "sandbox-stdio/core";
import { AuthFault } from "../refusal/fault.ts";
import type { AttemptLimit } from "./attempts.ts";

/** Attempts to attach at once: a script that runs a hundred short commands, and then some. */
const USUAL_BURST = 180;

/** Variables of the Worker; texts, as wrangler gives them. Absent or empty: the default. */
export interface LimitEnv {
  /**
   * Open connections from one address; an IPv6 /64 counts as one. On a laptop `CF-Connecting-IP` counts, if sent.
   * Default: 200.
   */
  readonly LIMIT_CONNECTIONS_PER_IP?: string;
  /** The same on `/sandbox/terminal`. Default: 20. */
  readonly LIMIT_JSON_CONNECTIONS_PER_IP?: string;
  /** One user's attach attempts per minute after a burst. Reconnecting with `resume` does not count. Default: 60. */
  readonly LIMIT_ATTACHES_PER_MINUTE?: string;
  /** One user's attach attempts at once. Default: 180, or the rate if only that is set. */
  readonly LIMIT_ATTACHES_BURST?: string;
  /** One person's HTTP API calls in any 60 s. Default: 600. */
  readonly LIMIT_CALLS_PER_MINUTE?: string;
  /** Sandboxes of one tenant with a living session. Default: 10. */
  readonly LIMIT_SANDBOXES?: string;
  /** Living sessions of one sandbox. Default: 256. */
  readonly LIMIT_SESSIONS?: string;
  /** Clients on one session, at most 64; an eighth is kept for drivers with a token. Default: 64. */
  readonly LIMIT_CLIENTS?: string;
  /** Pending waits and streams of programs on one session. Default: 256. */
  readonly LIMIT_WAITS?: string;
  /** Output to a client that acknowledges nothing. Default: 8388608. */
  readonly LIMIT_PLAIN_BYTES_PER_SECOND?: string;
  /**
   * Output to all such clients and preview WebSockets together since each was last heard, beyond a MiB each; used if
   * the runtime does not report socket queues. Default: 134217728.
   */
  readonly LIMIT_UNHEARD_BYTES?: string;
  /** Messages of one client that cost something (L10), a second. Accepted input costs nothing. Default: 200. */
  readonly LIMIT_MESSAGES_PER_SECOND?: string;
  /** The same at once. Default: 2000. */
  readonly LIMIT_MESSAGES_BURST?: string;
  /** Refused input of one client before it is closed, a second. Default: 65536. */
  readonly LIMIT_REFUSED_BYTES_PER_SECOND?: string;
  /** The same at once. Default: 262144. */
  readonly LIMIT_REFUSED_BYTES?: string;
  /** Lifetime of a pipe session with a generated name after its client's connection closed. Default: 300. */
  readonly LIMIT_UNNAMED_SECONDS?: string;
  /** How long a connection may go without input, output or resize. Default: none for `stdio.v1`, 1800 for others. */
  readonly IDLE_SECONDS?: string;
  /** The same on the `pty` routes. Default: 600. */
  readonly IDLE_SECONDS_PTY?: string;
  /**
   * Seconds of quiet until a session is parked (H21): its object leaves memory, its clients stay; 0: never. Default:
   * 60.
   */
  readonly PARK_SECONDS?: string;
  /** `1`: plain clients may be parked too. A silent one then notices a close late. Default: 0. */
  readonly PARK_PLAIN?: string;
  /** How long a parked session keeps its clients, and with them its container. Default: 8. */
  readonly PARK_HOURS?: string;
}

export interface Limits {
  /** Open connections from one address, of all dialects but `json`. */
  readonly connectionsPerAddress: number;
  /** The same of the `json` dialect. */
  readonly jsonConnectionsPerAddress: number;
  /** Attach attempts of one user; a valid `resume` is not counted. */
  readonly attaches: AttemptLimit;
  /** HTTP API calls of one person in a minute. */
  readonly callsPerMinute: number;
  /** Sandboxes of one tenant with a session that lives. */
  readonly sandboxes: number;
  /** Living sessions of one sandbox. */
  readonly sessions: number;
  /** Clients on one session; 64 at most, which the bridge holds to by itself. */
  readonly clients: number;
  /** Programs' calls that wait, and streams, on one session. */
  readonly waits: number;
  /** Bytes a second to a client that acknowledges nothing, unless a better client paces. */
  readonly plainBytesPerSecond: number;
  /** Bytes to clients of which nothing shows that they read, together, beyond a MiB each. */
  readonly unacknowledgedBytes: number;
  /** How many messages, and how much refused input, one client may send. */
  readonly budget: BudgetLimits;
  /** An unnamed session lives on for so long after its client's connection has closed. */
  readonly unnamedSeconds: number;
  /** After so long without input, output or resize a connection is closed whose dialect keeps its object awake. */
  readonly idleSeconds: number;
  /** The same of the `pty` dialect. */
  readonly ptyIdleSeconds: number;
  /** The same where the dialect lets the session be parked, whether it ever is or not; infinity: never. */
  readonly parkedIdleSeconds: number;
  /** After so long without anything a session is parked; infinity: never. */
  readonly parkSeconds: number;
  /** Whether plain clients are parked too. */
  readonly parksPlain: boolean;
  /** For so long a parked session keeps its clients, and with them its container. */
  readonly parkHours: number;
}

/** Longer than a person thinks between two commands. */
const USUAL_PARK_SECONDS = 60;

/** @throws {AuthFault} `misconfigured`, naming the variable. */
export function readLimits(env: LimitEnv): Limits {
  return {
    connectionsPerAddress: count("LIMIT_CONNECTIONS_PER_IP", env.LIMIT_CONNECTIONS_PER_IP, 200),
    jsonConnectionsPerAddress: count("LIMIT_JSON_CONNECTIONS_PER_IP", env.LIMIT_JSON_CONNECTIONS_PER_IP, 20),
    attaches: readAttaches(env),
    callsPerMinute: count("LIMIT_CALLS_PER_MINUTE", env.LIMIT_CALLS_PER_MINUTE, 600),
    sandboxes: count("LIMIT_SANDBOXES", env.LIMIT_SANDBOXES, 10),
    sessions: count("LIMIT_SESSIONS", env.LIMIT_SESSIONS, 256),
    clients: Math.min(count("LIMIT_CLIENTS", env.LIMIT_CLIENTS, MAX_CLIENTS), MAX_CLIENTS),
    waits: count("LIMIT_WAITS", env.LIMIT_WAITS, 256),
    plainBytesPerSecond: count("LIMIT_PLAIN_BYTES_PER_SECOND", env.LIMIT_PLAIN_BYTES_PER_SECOND, PLAIN_RATE),
    unacknowledgedBytes: count("LIMIT_UNHEARD_BYTES", env.LIMIT_UNHEARD_BYTES, 128 * MIB),
    budget: readBudget(env),
    unnamedSeconds: count("LIMIT_UNNAMED_SECONDS", env.LIMIT_UNNAMED_SECONDS, 5 * 60),
    idleSeconds: count("IDLE_SECONDS", env.IDLE_SECONDS, 30 * 60),
    ptyIdleSeconds: count("IDLE_SECONDS_PTY", env.IDLE_SECONDS_PTY, 10 * 60),
    // A client that costs nothing while it is quiet may stay.
    parkedIdleSeconds: count("IDLE_SECONDS", env.IDLE_SECONDS, Number.POSITIVE_INFINITY),
    parkSeconds:
      env.PARK_SECONDS === "0" ? Number.POSITIVE_INFINITY : count("PARK_SECONDS", env.PARK_SECONDS, USUAL_PARK_SECONDS),
    parksPlain: env.PARK_PLAIN === "1" && env.PARK_SECONDS !== "0",
    parkHours: Math.min(count("PARK_HOURS", env.PARK_HOURS, 8), MAX_PARK_SECONDS / 3_600),
  };
}

/** A deployment that sets the rate alone means it to the letter: the burst is no more than that then. */
function readAttaches(env: LimitEnv): AttemptLimit {
  const perMinute = count("LIMIT_ATTACHES_PER_MINUTE", env.LIMIT_ATTACHES_PER_MINUTE, 60);
  const usual = env.LIMIT_ATTACHES_PER_MINUTE ? perMinute : USUAL_BURST;
  return { perMinute, burst: count("LIMIT_ATTACHES_BURST", env.LIMIT_ATTACHES_BURST, usual) };
}

function readBudget(env: LimitEnv): BudgetLimits {
  const usual = DEFAULT_BUDGET;
  return {
    messagesPerSecond: count("LIMIT_MESSAGES_PER_SECOND", env.LIMIT_MESSAGES_PER_SECOND, usual.messagesPerSecond),
    messageBurst: count("LIMIT_MESSAGES_BURST", env.LIMIT_MESSAGES_BURST, usual.messageBurst),
    refusedBytesPerSecond: count(
      "LIMIT_REFUSED_BYTES_PER_SECOND",
      env.LIMIT_REFUSED_BYTES_PER_SECOND,
      usual.refusedBytesPerSecond,
    ),
    refusedBurstBytes: count("LIMIT_REFUSED_BYTES", env.LIMIT_REFUSED_BYTES, usual.refusedBurstBytes),
  };
}

/** A kind of connection with limits for itself. */
export type IdleKind = "json" | "pty";

/**
 * After how long without anything a connection is closed, in milliseconds.
 * @param kind Undefined: the usual one.
 * @param canPark Whether it may stay while its session sleeps.
 */
export function idleMsOf(limits: Limits, kind: IdleKind | undefined, canPark: boolean): number {
  if (kind === "pty") return 1000 * limits.ptyIdleSeconds;
  return 1000 * (canPark ? limits.parkedIdleSeconds : limits.idleSeconds);
}

function count(name: string, value: string | undefined, fallback: number): number {
  if (!value) return fallback;
  if (/^[1-9]\d{0,9}$/.test(value)) return Number(value);
  throw new AuthFault("misconfigured", `This server is not set up: ${name} must be a whole number from 1 on`);
}
