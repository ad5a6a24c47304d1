// Asks which person is logged in, and logs out. The page never sees a token.

import { isRecord } from "sandbox-stdio/core";
import { textOf } from "../connection/answers.ts";

export type Me =
  | {
      readonly kind: "known";
      readonly name: string;
      readonly key: string;
      readonly scopes: readonly string[];
      /** When the login ends, in milliseconds since 1970; NaN where it is not said. */
      readonly expiresAtMs: number;
      readonly isRenewable: boolean;
      /** The sandbox to begin in, where the server names one. */
      readonly home: string | undefined;
      /** Whether servers in a sandbox can be looked at. */
      readonly hasPreviews: boolean;
    }
  /** Renewable: the login has run out, and the server renews it if it is asked to. */
  | { readonly kind: "anonymous"; readonly isRenewable: boolean }
  | { readonly kind: "unreachable"; readonly reason: string };

/** Asks `/api/me`. Never throws. */
export async function fetchMe(): Promise<Me> {
  try {
    const response = await fetch("/api/me", { headers: { Accept: "application/json" }, cache: "no-store" });
    if (response.status === 401) return { kind: "anonymous", isRenewable: false };
    const answer: unknown = await response.json();
    if (!response.ok) return { kind: "unreachable", reason: textOf(answer, "message") ?? `HTTP ${response.status}` };
    const isRenewable = isRecord(answer) && answer.renewable === true;
    if (!isRecord(answer) || answer.authenticated !== true) return { kind: "anonymous", isRenewable };
    const subject = textOf(answer, "subject") ?? "";
    const name = textOf(answer, "name") ?? textOf(answer, "email") ?? subject;
    const scopes = Array.isArray(answer.scopes) ? answer.scopes.filter((scope) => typeof scope === "string") : [];
    const expiresAtMs = Date.parse(textOf(answer, "expiresAt") ?? "");
    const home = textOf(answer, "home");
    const hasPreviews = answer.previews === true;
    return { kind: "known", key: subject, name, scopes, expiresAtMs, isRenewable, home, hasPreviews };
  } catch (error) {
    // fetch rejects if no server answers, json() if the answer is no JSON: both are "not our server, or not now".
    return { kind: "unreachable", reason: error instanceof Error ? error.message : String(error) };
  }
}

/** Has the server renew the login. Never throws. @returns Whether it has. */
export async function renewLogin(): Promise<boolean> {
  try {
    // A reload may not abort it: the issuer has exchanged the refresh token then, and the answer alone has the new one.
    return (await fetch("/api/me/renew", { method: "POST", cache: "no-store", keepalive: true })).ok;
  } catch {
    // fetch rejects if no server answers: it may work the next time.
    return false;
  }
}

/** @returns Whether the server has ended the login. */
export async function logout(): Promise<boolean> {
  try {
    return (await fetch("/logout", { method: "POST" })).ok;
  } catch {
    // fetch rejects if no server answers: then the person is still logged in.
    return false;
  }
}

/** Where to log in, so as to come back here. */
export function loginAddress(location: Pick<Location, "pathname" | "search" | "hash">): string {
  return `/login?${new URLSearchParams({ return_to: location.pathname + location.search + location.hash })}`;
}
