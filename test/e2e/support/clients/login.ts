// The browser's login, step by step, without a browser: the cookie that comes of it.
import { signIn } from "../../../../packages/local/test/approve.ts";
import { system } from "../system/system.ts";

/** Logs in at the issuer. @returns The Cookie header of the session, as a browser would send it. */
export async function loginCookie(sub: string, org: string, origin = system.origin): Promise<string> {
  const begun = await fetch(`${origin}/login`, { redirect: "manual" });
  const callback = await signIn(begun.headers.get("Location") ?? "", { sub, org });
  const finished = await fetch(callback, { headers: { Cookie: cookiesOf(begun).join("; ") }, redirect: "manual" });
  const session = cookiesOf(finished).find((cookie) => cookie.startsWith("sbx_session"));
  if (session === undefined) throw new Error(`No session: ${finished.status} ${await finished.text()}`);
  return session;
}

function cookiesOf(response: Response): string[] {
  return response.headers.getSetCookie().map((cookie) => cookie.split(";")[0] ?? "");
}
