// A person's steps in the browser during a sign-in, for tests: posts the issuer's own forms. Knows only addresses.
import type { Person } from "./tokens.ts";

/** The fault that the issuer's page names; the whole page if it has no such line. */
function problemOf(page: string): string {
  return /<p role="alert">(.*?)<\/p>/.exec(page)?.[1] ?? page;
}

async function postForm(url: URL, fields: Record<string, string>): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { origin: url.origin },
    body: new URLSearchParams(fields),
    redirect: "manual",
  });
}

/**
 * Approves a device sign-in as `person`.
 *
 * @param userCode The code that the program shows, as it shows it.
 * @throws {Error} If the issuer refuses, with what its page says.
 */
export async function approveDevice(issuerUrl: string, userCode: string, person: Person): Promise<void> {
  const fields = { user_code: userCode, user: person.sub, org: person.org ?? "" };
  const response = await postForm(new URL("/device", issuerUrl), fields);
  const body = await response.text();
  if (!body.includes("is signed in as")) throw new Error(`Cannot approve ${userCode}: ${problemOf(body)}`);
}

/**
 * Signs in as `person` on the page behind `authorizeUrl`.
 *
 * @returns Where the browser is sent next: the client's callback, with `code` and `state`.
 * @throws {Error} If the issuer refuses, with what its page says.
 */
export async function signIn(authorizeUrl: string, person: Person): Promise<URL> {
  const url = new URL(authorizeUrl);
  const fields = { ...Object.fromEntries(url.searchParams), user: person.sub, org: person.org ?? "" };
  const response = await postForm(new URL(url.pathname, url), fields);
  const location = response.headers.get("location");
  if (location === null) throw new Error(`Cannot sign in: ${problemOf(await response.text())}`);
  return new URL(location);
}
