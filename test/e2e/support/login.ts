// The browser's login, step by step, without a browser: what a person's clicks send, and the cookie that comes of it.
import { system } from "./system.ts";

/** Logs in at the issuer. @returns The Cookie header of the session, as a browser would send it. */
export async function loginCookie(user: string, org: string): Promise<string> {
  const begun = await fetch(`${system.origin}/login`, { redirect: "manual" });
  const asked = new URL(redirectOf(begun));
  const form = new URLSearchParams([...asked.searchParams, ["user", user], ["org", org]]);
  const approved = await fetch(new URL(asked.pathname, asked.origin), {
    method: "POST",
    headers: { Origin: asked.origin },
    body: form,
    redirect: "manual",
  });
  const finished = await fetch(redirectOf(approved), {
    headers: { Cookie: cookiesOf(begun) },
    redirect: "manual",
  });
  const session = cookiesOf(finished)
    .split("; ")
    .find((cookie) => cookie.startsWith("sbx_session"));
  if (session === undefined) throw new Error(`No session: ${finished.status} ${await finished.text()}`);
  return session;
}

function redirectOf(response: Response): string {
  const location = response.headers.get("Location");
  if (location === null) throw new Error(`Not sent on: HTTP ${response.status}`);
  return location;
}

function cookiesOf(response: Response): string {
  return response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(";")[0] ?? "")
    .join("; ");
}
