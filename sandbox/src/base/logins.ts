// Sandboxes that belong to users of this machine, as with `serve` run by root: whose a sandbox is. The list of accounts is read at each
// start of a process, so that it needs no restart.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ChildUser, ownUserName, userNamed } from "./child-user.ts";

/** What `serve` calls its tenants: a user's own, or its owner's. The Worker makes the sandbox's name of it. */
const ISSUER = "serve";
const OWNERS = "serve";
const KEY_CHARACTERS = 60;

export type LoginSettings = {
  /** The list of accounts. */
  readonly file: string;
  /** A cgroup in which each user gets one, with these values in its files. */
  readonly cgroup?: string;
  readonly limits: Readonly<Record<string, string>>;
};

/** @returns The sandbox's user; undefined: the bridge's own; or why there is none, for people. */
export function userOfSandbox(
  settings: LoginSettings,
  { sandbox, label }: { readonly sandbox: string; readonly label: string },
): ChildUser | undefined | string {
  const isOf = (tenant: string) => keyOf(tenant, label) === sandbox;
  if (isOf(OWNERS)) return undefined;
  const name = namesIn(settings.file).find((one) => isOf(`user.${one}`));
  const user = name === undefined || name === ownUserName() ? undefined : userNamed(name);
  if (user === undefined) return "this login stands for no user of the machine: sbx-stdio serve user NAME --as USER";
  const home = user.home !== undefined && existsSync(user.home) ? user.home : "/";
  try {
    return { ...user, home, login: { cgroup: cgroupOf(settings, user) } };
  } catch (error) {
    return `the user's limits can't be set: ${error instanceof Error ? error.message : error}`;
  }
}

/** As names.ts of the Worker. */
const keyOf = (tenant: string, label: string): string =>
  createHash("sha256")
    .update(JSON.stringify([ISSUER, "org_id", tenant, label]))
    .digest("hex")
    .slice(0, KEY_CHARACTERS);

function namesIn(file: string): readonly string[] {
  const accounts = JSON.parse(readFileSync(file, "utf8")) as Readonly<Record<string, { readonly as?: string }>>;
  return Object.values(accounts).flatMap(({ as }) => (as === undefined ? [] : [as]));
}

function cgroupOf({ cgroup, limits }: LoginSettings, { uid }: ChildUser): string | undefined {
  if (cgroup === undefined) return undefined;
  const folder = join(cgroup, `user-${uid}`);
  mkdirSync(folder, { recursive: true });
  for (const [file, value] of Object.entries(limits)) writeFileSync(join(folder, file), value);
  return folder;
}
