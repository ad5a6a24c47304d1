// CHILD_USER: the user as whom processes run, if not the bridge's own: how the setting is read, and how a program is started as them.

import { accessSync, constants, existsSync, readFileSync } from "node:fs";

/** Another user than the bridge's: without privileges, as CHILD_USER names one, or one who has logged in. */
export type ChildUser = {
  readonly uid: number;
  readonly gid: number;
  /** Absent if /etc/passwd does not know the number. */
  readonly name?: string;
  readonly home?: string;
  readonly shell?: string;
  /** Present for a login, which has its groups, and sudo as far as the machine allows it. */
  readonly login?: {
    /** The cgroup that its processes enter. */
    readonly cgroup: string | undefined;
  };
};

export type ChildUserResult =
  | { readonly ok: true; readonly user: ChildUser | undefined }
  | { readonly ok: false; readonly problem: string };

/** From util-linux. It drops groups and capabilities too, between the fork and the program. */
const SETPRIV = "/usr/bin/setpriv";
/** From coreutils. */
const ENV = "/usr/bin/env";
/** Moves itself into the cgroup $1, and becomes the program. */
const ENTER = 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"';
const PASSWD = "/etc/passwd";
const MAX_ID = 0xffff_fffe;

/** @param setting A name of /etc/passwd, `UID` or `UID:GID`; absent or empty: the bridge's own user. */
export function readChildUser(setting: string | undefined): ChildUserResult {
  if (setting === undefined || setting === "") return { ok: true, user: undefined };
  const user = userNamed(setting);
  if (user === undefined) return refused(`"${setting}" is not the name of a user, a UID or UID:GID`);
  if (user.uid === 0 || user.gid === 0) return refused("processes must not run as root");
  if (process.getuid?.() !== 0) return refused("only root can start processes as another user");
  for (const [program, debian] of [
    [SETPRIV, "util-linux"],
    [ENV, "coreutils"],
  ] as const) {
    try {
      accessSync(program, constants.X_OK);
    } catch {
      return refused(`${program} is missing (it is in Debian's package ${debian})`);
    }
  }
  return { ok: true, user };
}

/** The name of the bridge's own user, or its number if /etc/passwd does not know it. Bun would ask the environment. */
export function ownUserName(): string {
  const uid = process.getuid?.() ?? 0;
  const users = existsSync(PASSWD) ? usersOfMachine() : [];
  return users.find((user) => user.uid === uid)?.name ?? String(uid);
}

/** The arguments of posix_spawn(3), but for descriptors. */
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
 * How to start `program` as the user. setpriv(1), which is still root, gets none of the variables, since the loader heeds some of
 * them, and enters no directory. env(1), which runs as the user, sets both.
 */
export function startAs({ uid, gid, login }: ChildUser, program: string, { args, env, cwd }: Wanted): Start {
  const drop = login === undefined ? ["--clear-groups", "--bounding-set=-all", "--no-new-privs"] : ["--init-groups"];
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  // env would take a path with an equals sign for another variable.
  const plain = program.includes("=") ? ["/bin/sh", "-c", 'exec "$@"', "sh", program] : [program];
  const asUser = [ENV, `--chdir=${cwd}`, "--", ...variables, ...plain, ...args];
  const words = [SETPRIV, `--reuid=${uid}`, `--regid=${gid}`, ...drop, "--inh-caps=-all", "--", ...asUser];
  const entered = login?.cgroup === undefined ? [] : ["/bin/sh", "-c", ENTER, "sh", login.cgroup];
  const argv = [...entered, ...words];
  return { path: argv[0] ?? SETPRIV, argv, env: {}, cwd: "/" };
}

/** @param setting A name of /etc/passwd, `UID` or `UID:GID`. */
export function userNamed(setting: string): ChildUser | undefined {
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
  return lines.flatMap(([name = "", , uid = "", gid = "", , home = "", shell = ""]) =>
    name === "" ? [] : [{ name, uid: Number(uid), gid: Number(gid), home, shell }],
  );
}

function refused(why: string): ChildUserResult {
  return { ok: false, problem: `CHILD_USER can't be used: ${why}` };
}
