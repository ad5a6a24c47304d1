// An issuer of one test's own, seen from inside workerd: its settings, its knobs, and tokens signed at will.
import { env } from "cloudflare:test";
import { importJWK, SignJWT } from "jose";
import { expect, inject } from "vitest";
import type { Env } from "../../src/env.ts";
import type { IdentifyEnv } from "../../src/guards/identify.ts";
import { AuthFault, type FaultCode } from "../../src/refusal/fault.ts";
import type { IssuerKeys, RealmCounts, RealmKnobs } from "../support/issuer-knobs.ts";

export const CLIENT = "sbx-cli";
export const OTHER_CLIENT = "sbx-web";
/** Where the page is, in tests. */
export const ORIGIN = "https://sbx.example";

export interface Realm {
  readonly issuer: string;
  readonly audience: readonly string[];
  /** The Worker's variables for this issuer. */
  readonly env: IdentifyEnv;
  /** A token signed with one of the issuer's keys (default `a`). Claims replace the default ones; undefined removes. */
  sign(claims?: Record<string, unknown>, key?: keyof IssuerKeys, header?: Record<string, unknown>): Promise<string>;
  set(knobs: RealmKnobs): Promise<void>;
  counts(): Promise<RealmCounts>;
}

export function newRealm(): Realm {
  const issuer = `${inject("issuerOrigin")}/r/${crypto.randomUUID()}`;
  const keys = inject("issuerKeys");
  return {
    issuer,
    audience: [CLIENT, OTHER_CLIENT],
    env: {
      TENANT: (env as unknown as Env).TENANT,
      OAUTH_ISSUER: issuer,
      OAUTH_AUDIENCE: `${CLIENT}, ${OTHER_CLIENT}`,
      OAUTH_CLIENT_ID: OTHER_CLIENT,
      DEFAULT_SCOPES: "sandbox:connect",
      SESSION_SECRET: "a secret of these tests, longer than 32 characters",
      PUBLIC_ORIGIN: ORIGIN,
    },
    async sign(claims = {}, key = "a", header = {}) {
      const all = { iss: issuer, aud: CLIENT, sub: "alice", exp: seconds(3600), ...claims };
      const kid = keys[key].kid;
      return new SignJWT(all)
        .setProtectedHeader({ alg: "RS256", ...(kid !== undefined && { kid }), ...header })
        .sign(await importJWK(keys[key], "RS256"));
    },
    async set(knobs) {
      const response = await fetch(`${issuer}/knobs`, { method: "PUT", body: JSON.stringify(knobs) });
      expect(response.status).toBe(200);
      await response.text();
    },
    async counts() {
      return (await fetch(`${issuer}/counts`)).json();
    },
  };
}

/** Seconds since 1970, that many from now. */
export function seconds(fromNow: number): number {
  return Math.floor(Date.now() / 1000) + fromNow;
}

/** The code of the fault that `act` ends in; anything else fails the test. */
export async function faultOf(act: () => unknown): Promise<FaultCode> {
  try {
    await act();
  } catch (error) {
    if (error instanceof AuthFault) return error.code;
    throw error;
  }
  throw new Error("No fault where one was expected");
}
