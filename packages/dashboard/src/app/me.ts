// Who is logged in, and logging out. The page never sees a token.

import { isRecord } from "sandbox-stdio/core";
import { textOf } from "../connection/api.ts";

export type Me =
  | {
      readonly kind: "known";
      readonly name: string;
      readonly key: string;
      readonly scopes: readonly string[];
      /** End of the login, in milliseconds since 1970; NaN if unknown. */
      readonly expiresAtMs: number;
      readonly isRenewable: boolean;
      /** The person's default sandbox. */
      readonly home: string | undefined;
      /** Whether ports of a sandbox can be previewed. */
      readonly hasPreviews: boolean;
    }
  /** `isRenewable`: the login has expired, and the server can renew it. */
  | { readonly kind: "anonymous"; readonly isRenewable: boolean }
  | { readonly kind: "unreachable"; readonly reason: string };

/** Never throws. */
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
    // No response, or not JSON: not our server, or not now.
    return { kind: "unreachable", reason: error instanceof Error ? error.message : String(error) };
  }
}

/** Never throws. @returns Whether the server renewed the login; undefined if it gave no response. */
export async function renewLogin(): Promise<boolean | undefined> {
  try {
    // A reload must not abort it: the old refresh token is used up, and only the response has the new one.
    return (await fetch("/api/me/renew", { method: "POST", cache: "no-store", keepalive: true })).ok;
  } catch {
    // The network is down: it may work next time.
    return undefined;
  }
}

/** @returns Whether the login was ended. */
export async function logout(): Promise<boolean> {
  try {
    return (await fetch("/logout", { method: "POST" })).ok;
  } catch {
    // No response: the person is still logged in.
    return false;
  }
}

/** The login page, which returns to this location. */
export function loginAddress(location: Pick<Location, "pathname" | "search" | "hash">): string {
  return `/login?${new URLSearchParams({ return_to: location.pathname + location.search + location.hash })}`;
}
