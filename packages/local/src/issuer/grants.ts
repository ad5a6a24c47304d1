// The local issuer's memory between two requests: authorization codes, device codes, refresh tokens and opaque
// access tokens. In memory only, bounded, and told the time. Knows no HTTP and signs nothing.
import { createHash, randomBytes, randomInt } from "node:crypto";
import type { Person } from "./tokens.ts";

/** Lifetimes, in seconds. */
const CODE_SECONDS = 60;
export const DEVICE_CODE_SECONDS = 600;
const REFRESH_TOKEN_SECONDS = 30 * 24 * 3600;

/** Most entries of one kind; the oldest go first. A local issuer never gets near it, a runaway client might. */
const MAX_ENTRIES = 10_000;

/** A sign-in: who, for which client, with which scope. */
export interface Grant {
  readonly clientId: string;
  readonly person: Person;
  /** Space separated. */
  readonly scope: string;
  readonly nonce?: string | undefined;
}

export type DeviceDecision = { state: "pending" } | { state: "approved"; person: Person } | { state: "denied" };

export type DevicePoll =
  | { state: "pending" | "too-fast" | "denied" | "expired" | "unknown" }
  | { state: "approved"; grant: Grant };

interface DeviceEntry {
  readonly clientId: string;
  readonly scope: string;
  readonly userCode: string;
  readonly expiresAt: number;
  decision: DeviceDecision;
  lastPollAt: number | undefined;
}

interface CodeEntry {
  readonly grant: Grant;
  readonly redirectUri: string;
  readonly challenge: string;
  readonly expiresAt: number;
}

interface TokenEntry {
  readonly grant: Grant;
  readonly issuedAt: number;
  readonly expiresAt: number;
}

const secret = (prefix: string): string => prefix + randomBytes(32).toString("base64url");

// No vowels and no look-alikes (RFC 8628, 6.1): codes that are easy to type and spell no words.
const USER_CODE_LETTERS = "BCDFGHJKLMNPQRSTVWXZ";

function newUserCode(): string {
  const letters = Array.from({ length: 8 }, () => USER_CODE_LETTERS.charAt(randomInt(USER_CODE_LETTERS.length)));
  return `${letters.slice(0, 4).join("")}-${letters.slice(4).join("")}`;
}

/** As typed by a person: case, spaces and the dash don't matter. */
function normalizeUserCode(typed: string): string {
  const letters = typed.toUpperCase().replace(/[^A-Z]/g, "");
  return `${letters.slice(0, 4)}-${letters.slice(4)}`;
}

function remember<T>(entries: Map<string, T>, key: string, entry: T): void {
  const oldest = entries.keys().next();
  if (entries.size >= MAX_ENTRIES && !oldest.done) entries.delete(oldest.value);
  entries.set(key, entry);
}

export class GrantStore {
  readonly #now: () => number;
  readonly #deviceInterval: number;
  readonly #codes = new Map<string, CodeEntry>();
  readonly #devices = new Map<string, DeviceEntry>();
  readonly #refreshTokens = new Map<string, TokenEntry>();
  readonly #accessTokens = new Map<string, TokenEntry>();
  readonly #revokedIds = new Map<string, true>();

  /** `now` is in seconds since 1970; `deviceInterval` is the least time between two polls, in seconds. */
  constructor(options: { now: () => number; deviceInterval: number }) {
    this.#now = options.now;
    this.#deviceInterval = options.deviceInterval;
  }

  /** A code for `grant`, to be redeemed once, within a minute, by who knows the verifier of `challenge` (S256). */
  addCode(grant: Grant, redirectUri: string, challenge: string): string {
    const code = secret("ac_");
    remember(this.#codes, code, { grant, redirectUri, challenge, expiresAt: this.#now() + CODE_SECONDS });
    return code;
  }

  /** The grant of `code`, or undefined where anything at all doesn't fit. Either way the code is used up. */
  redeemCode(code: string, clientId: string, redirectUri: string, verifier: string): Grant | undefined {
    const entry = this.#codes.get(code);
    this.#codes.delete(code);
    if (entry === undefined || entry.expiresAt <= this.#now()) return undefined;
    if (entry.grant.clientId !== clientId || entry.redirectUri !== redirectUri) return undefined;
    if (!/^[A-Za-z0-9._~-]{43,128}$/.test(verifier)) return undefined;
    const challenge = createHash("sha256").update(verifier).digest("base64url");
    return challenge === entry.challenge ? entry.grant : undefined;
  }

  /** Starts a device sign-in (RFC 8628). */
  addDevice(clientId: string, scope: string): { deviceCode: string; userCode: string } {
    const deviceCode = secret("dc_");
    const userCode = newUserCode();
    const expiresAt = this.#now() + DEVICE_CODE_SECONDS;
    const decision: DeviceDecision = { state: "pending" };
    remember(this.#devices, deviceCode, { clientId, scope, userCode, expiresAt, decision, lastPollAt: undefined });
    return { deviceCode, userCode };
  }

  /** The sign-in that waits for a decision under this user code, however it was typed. */
  findDevice(userCode: string): { clientId: string; scope: string; userCode: string } | undefined {
    const code = normalizeUserCode(userCode);
    for (const device of this.#devices.values()) {
      const isOpen = device.decision.state === "pending" && device.expiresAt > this.#now();
      if (device.userCode === code && isOpen) return device;
    }
    return undefined;
  }

  /** Records what the person decided. False where no sign-in waits under this code. */
  decideDevice(userCode: string, decision: DeviceDecision): boolean {
    const code = normalizeUserCode(userCode);
    for (const device of this.#devices.values()) {
      if (device.userCode !== code || device.decision.state !== "pending" || device.expiresAt <= this.#now()) continue;
      device.decision = decision;
      return true;
    }
    return false;
  }

  /** The answer to a polling device. An approved code is used up by this call. */
  pollDevice(deviceCode: string, clientId: string): DevicePoll {
    const device = this.#devices.get(deviceCode);
    if (device === undefined || device.clientId !== clientId) return { state: "unknown" };
    const now = this.#now();
    if (device.expiresAt <= now) return { state: "expired" };
    const { decision } = device;
    if (decision.state === "pending") {
      // A fifth of leeway: the client's timer and ours don't agree to the millisecond.
      const tooFast = device.lastPollAt !== undefined && now - device.lastPollAt < this.#deviceInterval * 0.8;
      device.lastPollAt = now;
      return { state: tooFast ? "too-fast" : "pending" };
    }
    this.#devices.delete(deviceCode);
    if (decision.state === "denied") return { state: "denied" };
    return { state: "approved", grant: { clientId, person: decision.person, scope: device.scope } };
  }

  addRefreshToken(grant: Grant): string {
    const token = secret("rt_");
    const issuedAt = this.#now();
    remember(this.#refreshTokens, token, { grant, issuedAt, expiresAt: issuedAt + REFRESH_TOKEN_SECONDS });
    return token;
  }

  /** The grant of a refresh token, which is used up: the client gets a new one with its new access token. */
  redeemRefreshToken(token: string, clientId: string): Grant | undefined {
    const entry = this.#refreshTokens.get(token);
    if (entry === undefined || entry.grant.clientId !== clientId) return undefined;
    this.#refreshTokens.delete(token);
    return entry.expiresAt > this.#now() ? entry.grant : undefined;
  }

  /** An opaque access token, `at_…`, that lives `lifetime` seconds. */
  addAccessToken(grant: Grant, lifetime: number): string {
    const token = secret("at_");
    const issuedAt = this.#now();
    remember(this.#accessTokens, token, { grant, issuedAt, expiresAt: issuedAt + lifetime });
    return token;
  }

  findAccessToken(token: string): TokenEntry | undefined {
    const entry = this.#accessTokens.get(token);
    return entry !== undefined && entry.expiresAt > this.#now() ? entry : undefined;
  }

  /** Forgets an opaque or refresh token. */
  revokeToken(token: string): void {
    this.#accessTokens.delete(token);
    this.#refreshTokens.delete(token);
  }

  /** Remembers that the JWT with this `jti` is revoked; only introspection can tell. */
  revokeId(jti: string): void {
    remember(this.#revokedIds, jti, true);
  }

  isRevokedId(jti: string): boolean {
    return this.#revokedIds.has(jti);
  }
}
