// The sign-in of `serve`: a one-time key, or a name and its password. Both are limited by address, passwords by account too.
import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Admission, Decision } from "../../../local/src/issuer/admission.ts";
import { escapeHtml } from "../../../local/src/issuer/pages.ts";
import type { Person } from "../../../local/src/issuer/tokens.ts";
import { type AccountFile, personOf } from "./accounts.ts";
import { Attempts, accountKey, addressKey } from "./attempts.ts";
import { takeKey } from "./keys.ts";

/** Between the exchange of a key and the login that follows by itself. */
const COOKIE_SECONDS = 60;
const COOKIE = "sbx_key";
const A_MINUTE_BY_ADDRESS = 5;
const A_MINUTE_BY_ACCOUNT = 20;

export type LoginSettings = {
  readonly keysDir: string;
  readonly accounts: AccountFile;
  /** All that anybody may do at this server. */
  readonly scopes: readonly string[];
  readonly isSecure: boolean;
  /** Milliseconds. */
  readonly now: () => number;
};

export class KeyOrPassword implements Admission {
  readonly #settings: LoginSettings;
  readonly #byAddress = new Attempts(A_MINUTE_BY_ADDRESS);
  readonly #byAccount = new Attempts(A_MINUTE_BY_ACCOUNT);
  /** Those whose key was exchanged, by the cookie that they got. */
  readonly #admitted = new Map<string, { readonly person: Person; readonly untilMs: number }>();
  readonly posts: Admission["posts"];

  constructor(settings: LoginSettings) {
    this.#settings = settings;
    this.posts = { "/key": (form, request, response) => this.#exchange(form.get("key") ?? "", request, response) };
  }

  #waitOf(request: IncomingMessage): number {
    // The front's word: it alone reaches the issuer.
    const address = String(request.headers["cf-connecting-ip"] ?? "");
    return this.#byAddress.wait(addressKey(address), this.#settings.now());
  }

  #take(key: string): Person | undefined {
    const { keysDir, scopes, now } = this.#settings;
    const person = takeKey(keysDir, key, now());
    return person && { ...person, scopes: (person.scopes ?? []).filter((one) => scopes.includes(one)) };
  }

  /** The page posts the key of its address, and goes to the usual login with what it gets. */
  #exchange(key: string, request: IncomingMessage, response: ServerResponse): void {
    const { isSecure, now } = this.#settings;
    const wait = this.#waitOf(request);
    const headers = { "content-type": "application/json", "cache-control": "no-store" };
    const refuse = (status: number, error: string, message: string, more = {}): void => {
      response.writeHead(status, { ...headers, ...more }).end(JSON.stringify({ error, message }));
    };
    if (wait > 0) {
      refuse(429, "too_many_requests", tooMany(wait), { "retry-after": String(wait) });
      return;
    }
    const person = this.#take(key);
    if (person === undefined) {
      refuse(
        403,
        "bad_key",
        "This link was used, or is older than ten minutes: sbx-stdio serve link makes the next one",
      );
      return;
    }
    for (const [cookie, { untilMs }] of this.#admitted) if (untilMs <= now()) this.#admitted.delete(cookie);
    const cookie = randomBytes(32).toString("base64url");
    this.#admitted.set(cookie, { person, untilMs: now() + COOKIE_SECONDS * 1000 });
    const attributes = `Path=/interaction; Max-Age=${COOKIE_SECONDS}; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`;
    response.writeHead(204, { ...headers, "set-cookie": `${COOKIE}=${cookie}; ${attributes}` }).end();
  }

  known({ headers }: IncomingMessage): Person | undefined {
    const [, cookie = ""] = new RegExp(`(?:^|; )${COOKIE}=([\\w-]+)`).exec(headers.cookie ?? "") ?? [];
    const admitted = this.#admitted.get(cookie);
    this.#admitted.delete(cookie);
    return admitted !== undefined && admitted.untilMs > this.#settings.now() ? admitted.person : undefined;
  }

  stillMay(person: Person): boolean {
    return this.#settings.accounts.stillMay(person);
  }

  async decide(form: URLSearchParams, request: IncomingMessage): Promise<Decision> {
    const { accounts, scopes, now } = this.#settings;
    const wait = this.#waitOf(request);
    if (wait > 0) return { kind: "undecided", problem: tooMany(wait), status: 429 };
    const key = (form.get("key") ?? "").trim();
    if (key !== "") {
      const person = this.#take(key);
      if (person !== undefined) return { kind: "approved", person };
      return { kind: "undecided", problem: "This key was used, or is older than ten minutes", status: 403 };
    }
    const name = (form.get("user") ?? "").trim();
    const accountWait = this.#byAccount.wait(accountKey(name, accounts.find(name) !== undefined), now());
    if (accountWait > 0) return { kind: "undecided", problem: tooMany(accountWait), status: 429 };
    const account = await accounts.check(name, form.get("password") ?? "");
    if (account === "busy") return { kind: "undecided", problem: tooMany(1), status: 429 };
    if (account === "wrong") return { kind: "undecided", problem: "The name or the password is wrong", status: 403 };
    return { kind: "approved", person: personOf(name, account, scopes) };
  }

  fields(suggestedUser = "") {
    const password = `<label>User name <input name="user" value="${escapeHtml(suggestedUser)}" autocomplete="username"></label>
<label>Password <input name="password" type="password" autocomplete="current-password"></label>`;
    return {
      fields: `${this.#settings.accounts.isEmpty ? "" : password}
<label>One-time key <input name="key" autocomplete="off"></label>
<div class="row"><button>Sign in</button></div>`,
      note: "<code>sbx-stdio serve link</code> on the server's machine prints a key; <code>sbx-stdio serve user NAME</code> sets a password.",
    };
  }
}

const tooMany = (seconds: number): string => `Too many tries: the next one in ${seconds} s`;
