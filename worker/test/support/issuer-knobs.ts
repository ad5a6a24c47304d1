// What the test issuer (issuer.ts, in Node) and the tests (in workerd) both know of it. Types only.
import type { JWK } from "jose";

declare module "vitest" {
  interface ProvidedContext {
    /** `http://127.0.0.1:PORT`; realms are at `/r/NAME`. */
    issuerOrigin: string;
    bridgeUrl: string;
    issuerKeys: IssuerKeys;
  }
}

/** Private keys by `kid`. `a` and `b` are the issuer's; `foreign` never is, whatever its header says. */
export type IssuerKeys = Readonly<Record<"a" | "b" | "foreign", JWK>>;

/** What a test may change in a realm, by `PUT /r/NAME/knobs`. */
export interface RealmKnobs {
  /** Which keys the key set shows. Default: `a`. */
  published?: ("a" | "b")[];
  /** Introspection's answer for each opaque token; others are inactive. */
  opaque?: Record<string, Record<string, unknown>>;
  /** Every endpoint answers 500. */
  down?: boolean;
  /** What the code is exchanged for. Default: `jwt`. */
  accessToken?: "jwt" | "opaque";
  /** Claims that replace those of the tokens given for a code. */
  claims?: Record<string, unknown>;
  /** Claims that replace those of the ID token, after `claims`. */
  idClaims?: Record<string, unknown>;
  /** False: no ID token is given. */
  idToken?: boolean;
  /** True: refresh tokens are given, which count once. */
  refresh?: boolean;
  /** What its Project Service (`PROJECT_SERVICE_URL` is the realm's own address) answers to everybody. Default: 401. */
  validate?: { status: number; body: unknown };
  /** The `scope` of the token answer; none by default. */
  scope?: string;
}

/** How often each endpoint of a realm was asked, by `GET /r/NAME/counts`. */
export interface RealmCounts {
  jwks: number;
  introspect: number;
  token: number;
  validate: number;
}
