// Who may log in: a file of names, roles and argon2id hashes, which `serve user` writes and each login reads.
import { randomBytes } from "node:crypto";
import { userInfo } from "node:os";
import { argon2id, argon2Verify } from "hash-wasm";
import type { Person } from "../../../local/src/issuer/tokens.ts";
import type { Role } from "../base/request.ts";
import { readJson, writeJson } from "../base/state.ts";

/** What each may do: view; type and start programs; take the keyboard, or end sessions of others. */
export const ROLES: Readonly<Record<Role, readonly string[]>> = {
  viewer: ["sandbox:connect"],
  driver: ["sandbox:connect", "sandbox:exec"],
  admin: ["sandbox:connect", "sandbox:exec", "sandbox:admin"],
};

export type Account = {
  readonly role: Role;
  /** Absent: it is opened by links, and by another issuer's logins. */
  readonly hash?: string;
  /** The user of this machine as whom its sessions run, where root serves. */
  readonly as?: string;
  /** Logins and keys made before this are invalid: the name may have been another person's, or the password guessed. Milliseconds since 1970. */
  readonly sinceMs?: number;
};
type Accounts = Readonly<Record<string, Account>>;

/** RFC 9106's second choice would take 64 MiB for each login; these are OWASP's. */
const COST = { parallelism: 1, iterations: 2, memorySize: 19_456, hashLength: 32 } as const;
const MOST_CHARACTERS = 1_024;
/** More than these at once would hold the processor for seconds. */
const MOST_WAITING = 4;

/** People of one server share its sandboxes: they are one organisation. Where root serves, each of the machine's users is one. */
const organisationOf = (as: string | undefined): string =>
  as === undefined || as === userInfo().username ? "serve" : `user.${as}`;

/** @param scopes All that anybody may do at this server. */
export function personOf(sub: string, { role, as }: Account, scopes: readonly string[] = ROLES.admin): Person {
  return {
    sub,
    org: organisationOf(as),
    email: sub.includes("@") ? sub : `${sub}@localhost`,
    scopes: ROLES[role].filter((one) => scopes.includes(one)),
    sinceMs: Date.now(),
  };
}

/** Whether the account still grants what the login was given. */
const covers = (account: Account, { org, scopes = [], sinceMs = 0 }: Person): boolean =>
  org === organisationOf(account.as) &&
  sinceMs >= (account.sinceMs ?? 0) &&
  scopes.every((one) => ROLES[account.role].includes(one));

/** The person whose server it is. */
export const owner = (): Person => personOf(userInfo().username, { role: "admin" });

/** Whether an account must name a user of this machine. */
export const isRoot = (): boolean => process.getuid?.() === 0;

export class AccountFile {
  readonly #file: string;
  readonly #isShared: boolean;
  readonly #needsUser: boolean;
  /** One after another: each takes its memory and a processor for a moment. */
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  /** A name without an account takes as long as one with it. Made at the first login: it takes as long as one. */
  #decoy: Promise<string> | undefined;

  /** @param options.isShared Whether people share one program, whoever they are. */
  constructor(file: string, { isShared = false, needsUser = isRoot() } = {}) {
    this.#file = file;
    this.#isShared = isShared;
    this.#needsUser = needsUser;
  }

  #read(): Accounts {
    return readJson<Accounts>(this.#file) ?? {};
  }

  #row(name: string): Account | undefined {
    const accounts = this.#read();
    return Object.hasOwn(accounts, name) ? accounts[name] : undefined;
  }

  /** Where root serves, one that names no user of the machine counts as none. */
  find(name: string): Account | undefined {
    const found = this.#row(name);
    if (found === undefined || (this.#needsUser && found.as === undefined)) return undefined;
    const { as: _, ...shared } = found;
    return this.#isShared ? shared : found;
  }

  /** Whether a login that was given earlier may go on: with the same rights or more, as the same user of the machine. */
  stillMay(person: Person): boolean {
    const account = this.find(person.sub);
    return account === undefined ? person.sub === owner().sub : covers(account, person);
  }

  get isEmpty(): boolean {
    return Object.keys(this.#read()).length === 0;
  }

  /** @returns The account, if the password is right; "busy" where too many are asked at once. */
  async check(name: string, password: string): Promise<Account | "wrong" | "busy"> {
    if (this.#waiting >= MOST_WAITING) return "busy";
    const account = this.find(name);
    this.#waiting += 1;
    const checked = this.#last.then(async () => {
      this.#decoy ??= hashOf(randomBytes(16).toString("hex"));
      const decoy = await this.#decoy;
      return argon2Verify({ password: password.slice(0, MOST_CHARACTERS) || " ", hash: account?.hash ?? decoy });
    });
    this.#last = checked.catch(() => undefined);
    try {
      const isRight = await checked;
      return isRight && account?.hash !== undefined ? account : "wrong";
    } finally {
      this.#waiting -= 1;
    }
  }

  /** @returns Whether earlier logins have ended. */
  async set(name: string, account: Account, password: string | undefined): Promise<boolean> {
    const hash = password === undefined ? undefined : await hashOf(password);
    const before = this.#row(name);
    // The owner may have come by links until now.
    const endsAll =
      before === undefined ? name !== owner().sub : hash !== undefined || !covers(account, personOf(name, before));
    const sinceMs = endsAll ? Date.now() : before?.sinceMs;
    writeJson(this.#file, { ...this.#read(), [name]: { ...account, hash, sinceMs } });
    return endsAll;
  }

  remove(name: string): boolean {
    const found = this.#row(name);
    const { [name]: _, ...others } = this.#read();
    writeJson(this.#file, others);
    return found !== undefined;
  }
}

const hashOf = (password: string): Promise<string> =>
  argon2id({ password, salt: randomBytes(16), ...COST, outputType: "encoded" });
