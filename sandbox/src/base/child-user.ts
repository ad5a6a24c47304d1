// The user whose processes the bridge starts, where that is another than its own: the setting, and what it means to a start.

import { accessSync, constants, existsSync, readFileSync } from "node:fs";

/** A user without privileges, as CHILD_USER names one. */
export type ChildUser = {
  readonly uid: number;
  readonly gid: number;
  /** Absent where /etc/passwd does not know the number. */
  readonly name?: string;
  readonly home?: string;
};

export type ChildUserResult =
  | { readonly ok: true; readonly user: ChildUser | undefined }
  | { readonly ok: false; readonly problem: string };

/** Of util-linux. It gives up groups and capabilities too, between the fork and the program. */
const SETPRIV = "/usr/bin/setpriv";
/** Of coreutils. */
const ENV = "/usr/bin/env";
const PASSWD = "/etc/passwd";
const MAX_ID = 0xffff_fffe;

/** @param setting A name of /etc/passwd, `UID` or `UID:GID`; absent or empty: the bridge's own user. */
export function readChildUser(setting: string | undefined): ChildUserResult {
  if (setting === undefined || setting === "") return { ok: true, user: undefined };
  const user = userNamed(setting);
  if (user === undefined) return refused(`"${setting}" is no user's name, UID or UID:GID`);
  if (user.uid === 0 || user.gid === 0) return refused("root is what processes are to be kept from");
  if (process.getuid?.() !== 0) return refused("only root can start processes as somebody else");
  for (const [program, debian] of [
    [SETPRIV, "util-linux"],
    [ENV, "coreutils"],
  ] as const) {
    try {
      accessSync(program, constants.X_OK);
    } catch {
      return refused(`${program} is not there (it is in Debian's package ${debian})`);
    }
  }
  return { ok: true, user };
}

/** The name of the bridge's own user; its number where /etc/passwd does not know it. Bun asks the environment instead. */
export function ownUserName(): string {
  const uid = process.getuid?.() ?? 0;
  const users = existsSync(PASSWD) ? usersOfMachine() : [];
  return users.find((user) => user.uid === uid)?.name ?? String(uid);
}

/** What posix_spawn(3) is given, but for descriptors. */
export type Start = {
  readonly path: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
};

type Wanted = {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
};

/**
 * How to start `program` as the user. What is root still gets none of the variables, as the loader heeds some of them, and
 * enters no directory: both are left to env(1), which is the user's already.
 */
export function startAs({ uid, gid }: ChildUser, program: string, { args, env, cwd }: Wanted): Start {
  const drop = ["--clear-groups", "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs"];
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  // env would take a path with an equals sign for another variable.
  const plain = program.includes("=") ? [SETPRIV, "--no-new-privs", "--", program] : [program];
  const asUser = [ENV, `--chdir=${cwd}`, "--", ...variables, ...plain, ...args];
  return {
    path: SETPRIV,
    argv: [SETPRIV, `--reuid=${uid}`, `--regid=${gid}`, ...drop, "--", ...asUser],
    env: {},
    cwd: "/",
  };
}

function userNamed(setting: string): ChildUser | undefined {
  const numbers = /^(\d{1,10})(?::(\d{1,10}))?$/.exec(setting);
  const uid = numbers?.[1] === undefined ? undefined : Number(numbers[1]);
  const known = usersOfMachine().find((user) => (uid === undefined ? user.name === setting : user.uid === uid));
  if (uid === undefined) return known;
  const gid = numbers?.[2] === undefined ? (known?.gid ?? uid) : Number(numbers[2]);
  return uid > MAX_ID || gid > MAX_ID ? undefined : { ...known, uid, gid };
}

function usersOfMachine(): ChildUser[] {
  const lines = readFileSync(PASSWD, "utf8")
    .split("\n")
    .map((line) => line.split(":"));
  return lines.flatMap(([name = "", , uid = "", gid = "", , home = ""]) =>
    name === "" ? [] : [{ name, uid: Number(uid), gid: Number(gid), home }],
  );
}

function refused(why: string): ChildUserResult {
  return { ok: false, problem: `CHILD_USER can't be used: ${why}` };
}
