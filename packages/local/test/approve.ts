// A person's steps in the browser during a sign-in, for tests: posts the issuer's own forms. Knows only addresses.
import type { Person } from "../src/issuer/tokens.ts";

/** The fault that the issuer's page names; the whole page if it has no such line. */
function problemOf(page: string): string {
  return /<p role="alert">(.*?)<\/p>/.exec(page)?.[1] ?? page;
}

async function postForm(url: URL, fields: Record<string, string>, cookie = ""): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { origin: url.origin, cookie },
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
  if (!body.includes("is logged in as")) throw new Error(`Cannot approve ${userCode}: ${problemOf(body)}`);
}

/**
 * Signs in as `person` on the page behind `authorizeUrl`.
 *
 * @returns Where the browser is sent next: the client's callback, with `code` and `state`.
 * @throws {Error} If the issuer refuses, with what its page says.
 */
export async function signIn(authorizeUrl: string, person: Person): Promise<URL> {
  let cookies = "";
  const step = async (address: string, fields?: Record<string, string>): Promise<string> => {
    const url = new URL(address, authorizeUrl);
    const response = await (fields === undefined
      ? fetch(url, { headers: { cookie: cookies }, redirect: "manual" })
      : postForm(url, fields, cookies));
    const given = response.headers.getSetCookie().map((cookie) => cookie.split(";")[0]);
    cookies = [cookies, ...given].join("; ");
    const location = response.headers.get("location");
    if (location === null) throw new Error(`Cannot log in: ${problemOf(await response.text())}`);
    return location;
  };
  const page = await step(authorizeUrl);
  const resumed = await step(page, { user: person.sub, org: person.org ?? "" });
  return new URL(await step(resumed));
}
