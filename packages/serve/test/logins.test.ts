// One-time keys, passwords, and how often one may try: with a clock that stands still.
import { readdirSync, readFileSync, statSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { AccountFile, owner, personOf } from "../src/logins/accounts.ts";
import { Attempts, accountKey, addressKey } from "../src/logins/attempts.ts";
import { KeptLogins } from "../src/logins/kept-logins.ts";
import { KeyOrPassword } from "../src/logins/key-or-password.ts";
import { makeKey, takeKey } from "../src/logins/keys.ts";
import { temporaryDirectory } from "./temporary.ts";

const ALICE = personOf("alice", { role: "driver" });
const NOW = 1_800_000_000_000;
const MINUTE = 60_000;

test("a key opens once, within ten minutes", () => {
  const dir = temporaryDirectory();
  const [first, second] = [makeKey(dir, ALICE, NOW), makeKey(dir, ALICE, NOW)];
  expect(takeKey(dir, first, NOW + 10 * MINUTE - 1)).toEqual(ALICE);
  expect(takeKey(dir, first, NOW)).toBeUndefined();
  expect(takeKey(dir, second, NOW + 10 * MINUTE)).toBeUndefined();
  expect(takeKey(dir, second, NOW)).toBeUndefined();
  // Whose clock was set back by a day meanwhile.
  expect(takeKey(dir, makeKey(dir, ALICE, NOW), NOW - 24 * 60 * MINUTE)).toBeUndefined();
});

test("a key has 256 bits, and only its hash is kept, for the owner alone", () => {
  const dir = temporaryDirectory();
  const key = makeKey(dir, ALICE, NOW);
  expect(Buffer.from(key, "base64url").length).toBe(32);
  const [name = ""] = readdirSync(dir);
  expect(name + readFileSync(join(dir, name), "utf8")).not.toContain(key);
  expect(statSync(join(dir, name)).mode & 0o777).toBe(0o600);
});

test.each(["", "../accounts.json", "a".repeat(43), "%2e%2e", "é".repeat(43)])("%j is no key", (text) => {
  const dir = temporaryDirectory();
  makeKey(dir, ALICE, NOW);
  expect(takeKey(dir, text, NOW)).toBeUndefined();
});

test("keys that nobody used go when the next one is made", () => {
  const dir = temporaryDirectory();
  makeKey(dir, ALICE, NOW);
  makeKey(dir, ALICE, NOW + 10 * MINUTE);
  expect(readdirSync(dir).length).toBe(1);
});

test("so many tries are admitted in any minute, and a refusal says when the next one is", () => {
  const attempts = new Attempts(5);
  expect(Array.from({ length: 5 }, (_, index) => attempts.wait("a", NOW + index * 1_000))).toEqual([0, 0, 0, 0, 0]);
  expect(attempts.wait("a", NOW + 10_000)).toBe(50);
  expect(attempts.wait("b", NOW + 10_000)).toBe(0);
  expect(attempts.wait("a", NOW + MINUTE)).toBe(0);
  expect(attempts.wait("a", NOW + MINUTE)).toBe(1);
});

test("an IPv6 network counts as one address", () => {
  expect(addressKey("2001:db8:0:1::5")).toBe(addressKey("2001:db8::1:a:b:c:d"));
  expect(addressKey("2001:db8:0:1::5")).not.toBe(addressKey("2001:db8:0:2::5"));
  expect(addressKey("::1")).toBe("0:0:0:0");
  expect(addressKey("192.0.2.1")).toBe("192.0.2.1");
});

test("names that are no account's can't fill the memory, nor be told from accounts by their limit", () => {
  const keys = new Set(Array.from({ length: 5_000 }, (_, index) => accountKey(`name${index}`, false)));
  expect(keys.size).toBeLessThanOrEqual(1_024);
  expect(accountKey("alice", true)).toBe("alice");
});

test("a password is kept as argon2id, and opens with its role", async () => {
  const file = join(temporaryDirectory(), "accounts.json");
  const accounts = new AccountFile(file, { needsUser: false });
  await accounts.set("alice", { role: "viewer" }, "correct horse");
  expect(readFileSync(file, "utf8")).toMatch(/"\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await accounts.check("alice", "correct horse")).toMatchObject({ role: "viewer" });
  expect(await accounts.check("alice", "correct horsf")).toBe("wrong");
  expect(await accounts.check("alice", "")).toBe("wrong");
  expect(await accounts.check("__proto__", "correct horse")).toBe("wrong");
  expect(accounts.remove("alice")).toBe(true);
  expect(await accounts.check("alice", "correct horse")).toBe("wrong");
});

test("where root serves, an account that names no user of the machine opens nothing; a change of it ends logins", async () => {
  const file = join(temporaryDirectory(), "accounts.json");
  const accounts = new AccountFile(file, { needsUser: true });
  await accounts.set("alice", { role: "driver" }, "correct horse");
  expect([await accounts.check("alice", "correct horse"), accounts.stillMay(ALICE)]).toEqual(["wrong", false]);
  await accounts.set("alice", { role: "driver", as: "nobody" }, "correct horse");
  const account = accounts.find("alice");
  const alice = personOf("alice", account ?? { role: "viewer" });
  expect([alice.org, accounts.stillMay(alice)]).toEqual(["user.nobody", true]);
  await accounts.set("alice", { role: "driver", as: "daemon" }, undefined);
  expect([accounts.stillMay(alice), await accounts.check("alice", "correct horse")]).toEqual([false, "wrong"]);
  // Who shares one program shares it, whoever they are.
  expect(personOf("alice", new AccountFile(file, { isShared: true }).find("alice") ?? { role: "viewer" }).org).toBe(
    "serve",
  );
});

test("a login ends with its account or its password, and is none of the next person's of that name", async () => {
  vi.useFakeTimers({ now: NOW, toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const accounts = new AccountFile(join(temporaryDirectory(), "accounts.json"), { needsUser: false });
  const login = () => personOf("alice", { role: "driver" });
  const nextMs = () => vi.setSystemTime(Date.now() + 1);
  await accounts.set("alice", { role: "driver" }, undefined);
  const first = login();
  nextMs();
  expect([await accounts.set("alice", { role: "admin" }, undefined), accounts.stillMay(first)]).toEqual([false, true]);
  expect([await accounts.set("alice", { role: "driver" }, undefined), accounts.stillMay(first)]).toEqual([true, false]);
  const second = login();
  nextMs();
  expect([await accounts.set("alice", { role: "driver" }, "a password"), accounts.stillMay(second)]).toEqual([
    true,
    false,
  ]);
  const third = login();
  nextMs();
  expect([accounts.stillMay(third), accounts.remove("alice"), accounts.stillMay(third)]).toEqual([true, true, false]);
  await accounts.set("alice", { role: "driver" }, undefined);
  expect([accounts.stillMay(third), accounts.stillMay(login())]).toEqual([false, true]);
  // Names that every object has.
  expect([accounts.remove("constructor"), await accounts.set("constructor", { role: "viewer" }, undefined)]).toEqual([
    false,
    true,
  ]);
  // Whose server it is goes on after their first password.
  const own = owner();
  nextMs();
  expect([await accounts.set(own.sub, { role: "admin" }, "a password"), accounts.stillMay(own)]).toEqual([false, true]);
});

test("an account has 20 tries a minute, from whatever addresses; its owner waits too", async () => {
  const accounts = new AccountFile(join(temporaryDirectory(), "accounts.json"), { needsUser: false });
  await accounts.set("alice", { role: "viewer" }, "correct horse");
  const place = { keysDir: temporaryDirectory(), options: "", origin: "http://localhost", otherIssuer: undefined };
  const admission = new KeyOrPassword({ ...place, accounts, scopes: ["sandbox:connect"] });
  const tried = async (address: number, password: string) => {
    const request = { headers: { "cf-connecting-ip": `192.0.2.${address}` } } as unknown as IncomingMessage;
    const decision = await admission.decide(new URLSearchParams({ user: "alice", password }), request);
    return decision.kind === "undecided" ? decision.status : decision.kind;
  };
  expect(await tried(0, "correct horse")).toBe("approved");
  for (let address = 1; address < 20; address++) expect(await tried(address, "guess")).toBe(403);
  expect([await tried(20, "guess"), await tried(21, "correct horse")]).toEqual([429, 429]);
});

test("more than four passwords at a time are not looked at", async () => {
  const accounts = new AccountFile(join(temporaryDirectory(), "accounts.json"));
  const answers = await Promise.all(Array.from({ length: 6 }, () => accounts.check("nobody", "x")));
  expect(answers.filter((answer) => answer === "busy").length).toBe(2);
});

test("refresh tokens and people are found again after a restart, and no token lies in the file", async () => {
  const file = join(temporaryDirectory(), "logins.json");
  const first = new KeptLogins(file);
  const adapter = (logins: KeptLogins, kind: string) => logins.adapter(kind);
  await adapter(first, "Grant").upsert("grant1", { accountId: "alice" }, 60);
  first.people.set("grant1", ALICE);
  await adapter(first, "RefreshToken").upsert("the-token", { jti: "the-token", grantId: "grant1" }, 60);
  expect(readFileSync(file, "utf8")).not.toContain("the-token");
  const again = new KeptLogins(file);
  expect(await adapter(again, "RefreshToken").find("the-token")).toEqual({ jti: "the-token", grantId: "grant1" });
  expect(again.people.get("grant1")).toEqual(ALICE);
  await adapter(again, "RefreshToken").revokeByGrantId("grant1");
  await adapter(again, "Grant").destroy("grant1");
  const last = new KeptLogins(file);
  expect([await adapter(last, "RefreshToken").find("the-token"), last.people.size]).toEqual([undefined, 0]);
});
