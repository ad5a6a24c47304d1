// The sign-in of `serve`: a one-time key, a name and its password, or another issuer's login. Tries are limited by address, passwords by
// account too.
import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Admission, Decision } from "../../../local/src/issuer/admission.ts";
import { escapeHtml, messagePage, pageHeaders } from "../../../local/src/issuer/pages.ts";
import type { Person } from "../../../local/src/issuer/tokens.ts";
import { type AccountFile, personOf } from "./accounts.ts";
import { Attempts, accountKey, addressKey } from "./attempts.ts";
import { takeKey } from "./keys.ts";
import type { OtherIssuer } from "./other-issuer.ts";

/** Between a login and the page or program that it is for. */
const COOKIE_SECONDS = 300;
const COOKIE = "sbx_key";
const BEGUN = "sbx_login";
/** After that the other issuer is asked again. */
const ISSUER_MS = 12 * 3_600_000;
const RETURNS = /^\/(interaction\/[\w-]+|device(\?user_code=[\w-]*)?)$/;
const A_MINUTE_BY_ADDRESS = 5;
const A_MINUTE_BY_ACCOUNT = 20;

export type LoginSettings = {
  readonly keysDir: string;
  /** Of the commands that it names. */
  readonly options: string;
  readonly accounts: AccountFile;
  /** All that anybody may do at this server. */
  readonly scopes: readonly string[];
  readonly origin: string;
  readonly otherIssuer: OtherIssuer | undefined;
};

export class KeyOrPassword implements Admission {
  readonly #settings: LoginSettings;
  readonly #byAddress = new Attempts(A_MINUTE_BY_ADDRESS);
  readonly #byAccount = new Attempts(A_MINUTE_BY_ACCOUNT);
  /** Those who have shown who they are, by the cookie that they got. Times here are of a clock that nobody sets. */
  readonly #admitted = new Map<string, { readonly person: Person; readonly untilMs: number }>();
  readonly posts: Admission["posts"];
  readonly gets: Admission["gets"];

  constructor(settings: LoginSettings) {
    this.#settings = settings;
    this.posts = { "/key": (form, request, response) => this.#exchange(form.get("key") ?? "", request, response) };
    const { otherIssuer } = settings;
    this.gets = otherIssuer === undefined ? {} : this.#issuersPaths(otherIssuer);
  }

  #waitOf(request: IncomingMessage): number {
    // The front's word: it alone reaches the issuer.
    const address = String(request.headers["cf-connecting-ip"] ?? "");
    return this.#byAddress.wait(addressKey(address), performance.now());
  }

  #take(key: string): Person | undefined {
    const { keysDir, scopes } = this.#settings;
    const person = takeKey(keysDir, key);
    return person && { ...person, scopes: (person.scopes ?? []).filter((one) => scopes.includes(one)) };
  }

  /** The page posts the key of its address, and goes to the usual login with what it gets. */
  #exchange(key: string, request: IncomingMessage, response: ServerResponse): void {
    const person = this.#take(key);
    // Somebody else's wrong keys from this address must not keep out a person with a valid one.
    const wait = person === undefined ? this.#waitOf(request) : 0;
    const headers = { "content-type": "application/json", "cache-control": "no-store" };
    const refuse = (status: number, error: string, message: string, more = {}): void => {
      response.writeHead(status, { ...headers, ...more }).end(JSON.stringify({ error, message }));
    };
    if (wait > 0) {
      refuse(429, "too_many_requests", tooMany(wait), { "retry-after": String(wait) });
      return;
    }
    if (person === undefined) {
      refuse(
        403,
        "bad_key",
        `This link was used, or is older than ten minutes: sbx-stdio serve link${this.#settings.options} makes the next one`,
      );
      return;
    }
    response.writeHead(204, { ...headers, "set-cookie": this.#admit(person, "SameSite=Strict") }).end();
  }

  /** @returns The cookie by which {@link known} finds the person, once. */
  #admit(person: Person, attributes: string): string {
    const now = performance.now();
    for (const [cookie, { untilMs }] of this.#admitted) if (untilMs <= now) this.#admitted.delete(cookie);
    const cookie = randomBytes(32).toString("base64url");
    this.#admitted.set(cookie, { person, untilMs: now + COOKIE_SECONDS * 1000 });
    return this.#cookie(COOKIE, cookie, `${attributes}; Max-Age=${COOKIE_SECONDS}`);
  }

  #cookie(name: string, value: string, attributes: string): string {
    const secure = this.#prefix === "" ? "" : "; Secure";
    return `${this.#prefix}${name}=${value}; Path=/; ${attributes}; HttpOnly${secure}`;
  }

  /** With TLS: a cookie of such a name can't be set by a page without TLS or of another host. */
  get #prefix(): string {
    return this.#settings.origin.startsWith("https:") ? "__Host-" : "";
  }

  #cookieOf({ headers }: IncomingMessage, name: string): string {
    return new RegExp(`(?:^|; )${this.#prefix}${name}=([\\w-]+)`).exec(headers.cookie ?? "")?.[1] ?? "";
  }

  #issuersPaths(issuer: OtherIssuer): Admission["gets"] {
    const { origin, accounts, scopes } = this.#settings;
    const fail = (response: ServerResponse, status: number, why: string): void =>
      void response.writeHead(status, pageHeaders(origin)).end(messagePage("Cannot log in", why));
    const go = (response: ServerResponse, location: string, cookie: string): void =>
      void response.writeHead(302, { location, "set-cookie": cookie, "cache-control": "no-store" }).end();
    return {
      "/oauth/with": async (query, _, response) => {
        const to = query.get("to") ?? "";
        if (!RETURNS.test(to)) return fail(response, 400, "Begin at the page.");
        try {
          const { url, state } = await issuer.begin(to);
          // Lax: the issuer leads the browser back here.
          go(response, url.href, this.#cookie(BEGUN, state, "SameSite=Lax; Max-Age=900"));
        } catch (error) {
          fail(response, 502, `${issuer.host} can't be asked: ${messageOf(error)}`);
        }
      },
      "/oauth/back": async (query, request, response) => {
        try {
          const { names, to } = await issuer.finish(query, this.#cookieOf(request, BEGUN));
          // One with a password is another person's, whatever the issuer calls its own.
          const name = names.find((one) => accounts.find(one)?.hash === undefined && accounts.find(one) !== undefined);
          const account = accounts.find(name ?? "");
          if (name === undefined || account === undefined)
            return fail(
              response,
              403,
              `${names[0] ?? "An address that is not verified"} is not on the list of those who come this way: sbx-stdio serve user adds people.`,
            );
          const person = { ...personOf(name, account, scopes), untilMs: Date.now() + ISSUER_MS };
          go(response, to, this.#admit(person, "SameSite=Lax"));
        } catch (error) {
          fail(response, 403, `${issuer.host} did not sign you in: ${messageOf(error)}`);
        }
      },
    };
  }

  known(request: IncomingMessage): Person | undefined {
    const person = this.#admittedBy(request);
    this.#admitted.delete(this.#cookieOf(request, COOKIE));
    return person;
  }

  #admittedBy(request: IncomingMessage): Person | undefined {
    const admitted = this.#admitted.get(this.#cookieOf(request, COOKIE));
    return admitted !== undefined && admitted.untilMs > performance.now() ? admitted.person : undefined;
  }

  stillMay(person: Person): boolean {
    return (person.untilMs ?? Number.POSITIVE_INFINITY) > Date.now() && this.#settings.accounts.stillMay(person);
  }

  async decide(form: URLSearchParams, request: IncomingMessage): Promise<Decision> {
    const { accounts, scopes } = this.#settings;
    const known = form.has("known") ? this.known(request) : undefined;
    if (known !== undefined) return { kind: "approved", person: known };
    const wait = this.#waitOf(request);
    if (wait > 0) return { kind: "undecided", problem: tooMany(wait), status: 429 };
    const key = (form.get("key") ?? "").trim();
    if (key !== "") {
      const person = this.#take(key);
      if (person !== undefined) return { kind: "approved", person };
      return { kind: "undecided", problem: "This key was used, or is older than ten minutes", status: 403 };
    }
    const name = (form.get("user") ?? "").trim();
    const accountWait = this.#byAccount.wait(accountKey(name, accounts.find(name) !== undefined), performance.now());
    if (accountWait > 0) return { kind: "undecided", problem: tooMany(accountWait), status: 429 };
    const account = await accounts.check(name, form.get("password") ?? "");
    if (account === "busy") return { kind: "undecided", problem: tooMany(1), status: 429 };
    if (account === "wrong") return { kind: "undecided", problem: "The name or the password is wrong", status: 403 };
    return { kind: "approved", person: personOf(name, account, scopes) };
  }

  fields(suggestedUser = "", request: IncomingMessage) {
    const { otherIssuer } = this.#settings;
    const known = this.#admittedBy(request);
    if (known !== undefined) {
      return {
        fields: `<div class="row"><button name="known" value="1">Go on as ${escapeHtml(known.sub)}</button></div>`,
        note: "",
      };
    }
    const to = encodeURIComponent(request.url ?? "");
    const other =
      otherIssuer &&
      `<p class="note"><a href="/oauth/with?to=${to}">Log in with ${escapeHtml(otherIssuer.host)}</a></p>`;
    const password = `<label>User name <input name="user" value="${escapeHtml(suggestedUser)}" autocomplete="username"></label>
<label>Password <input name="password" type="password" autocomplete="current-password"></label>`;
    return {
      fields: `${other ?? ""}${this.#settings.accounts.isEmpty ? "" : password}
<label>One-time key <input name="key" autocomplete="off"></label>
<div class="row"><button>Log in</button></div>`,
      note: `<code>sbx-stdio serve link${this.#settings.options}</code> on the server's machine prints a key.`,
    };
  }
}

const tooMany = (seconds: number): string => `Too many tries: the next one in ${seconds} s`;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
