// Who may log in with a password: a file of names, roles and argon2id hashes, which `serve user` writes and each login reads.
import { randomBytes } from "node:crypto";
import { argon2id, argon2Verify } from "hash-wasm";
import type { Person } from "../../../local/src/issuer/tokens.ts";
import type { Role } from "../base/request.ts";
import { readJson, writeJson } from "../base/state.ts";

/** What each may do: look on, type and start programs, and take the keyboard or end what others started. */
export const ROLES: Readonly<Record<Role, readonly string[]>> = {
  viewer: ["sandbox:connect"],
  driver: ["sandbox:connect", "sandbox:exec"],
  admin: ["sandbox:connect", "sandbox:exec", "sandbox:admin"],
};

type Account = { readonly role: Role; readonly hash: string };
type Accounts = Readonly<Record<string, Account>>;

/** RFC 9106's second choice would take 64 MiB for each login; these are OWASP's. */
const COST = { parallelism: 1, iterations: 2, memorySize: 19_456, hashLength: 32 } as const;
const MOST_CHARACTERS = 1_024;
/** More than these at once would hold the processor for seconds. */
const MOST_WAITING = 4;

/** All people of one server share its sandboxes: they are one organisation. */
export const ORGANISATION = "serve";

/** @param scopes All that anybody may do at this server. */
export function personOf(sub: string, role: Role, scopes: readonly string[] = ROLES.admin): Person {
  return {
    sub,
    org: ORGANISATION,
    email: `${sub}@localhost`,
    scopes: ROLES[role].filter((one) => scopes.includes(one)),
  };
}

export class AccountFile {
  readonly #file: string;
  /** One after another: each takes its memory and a processor for a moment. */
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  /** A name without an account takes as long as one with it. Made at the first login: it takes as long as one. */
  #decoy: Promise<string> | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  #read(): Accounts {
    return readJson<Accounts>(this.#file) ?? {};
  }

  roleOf(name: string): Role | undefined {
    const accounts = this.#read();
    return Object.hasOwn(accounts, name) ? accounts[name]?.role : undefined;
  }

  get isEmpty(): boolean {
    return Object.keys(this.#read()).length === 0;
  }

  /** @returns The role, if the password is right; "busy" where too many are asked at once. */
  async check(name: string, password: string): Promise<Role | "wrong" | "busy"> {
    if (this.#waiting >= MOST_WAITING) return "busy";
    const account = this.roleOf(name) === undefined ? undefined : this.#read()[name];
    this.#waiting += 1;
    const checked = this.#last.then(async () => {
      this.#decoy ??= hashOf(randomBytes(16).toString("hex"));
      const decoy = await this.#decoy;
      return argon2Verify({ password: password.slice(0, MOST_CHARACTERS) || " ", hash: account?.hash ?? decoy });
    });
    this.#last = checked.catch(() => undefined);
    try {
      const isRight = await checked;
      return isRight && account !== undefined ? account.role : "wrong";
    } finally {
      this.#waiting -= 1;
    }
  }

  async set(name: string, role: Role, password: string): Promise<void> {
    const account: Account = { role, hash: await hashOf(password) };
    writeJson(this.#file, { ...this.#read(), [name]: account });
  }

  remove(name: string): boolean {
    const { [name]: found, ...others } = this.#read();
    writeJson(this.#file, others);
    return found !== undefined;
  }
}

const hashOf = (password: string): Promise<string> =>
  argon2id({ password, salt: randomBytes(16), ...COST, outputType: "encoded" });
