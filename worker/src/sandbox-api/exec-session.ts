// Sessions of execs (V3): each exec is a process of its own. A bash takes up the directory and the exported variables that the last one
// left in a folder that only its user may enter, runs the words of the exec as its own command, so that `cd` and `export` count, and
// leaves both again.

import { log } from "../base/log.ts";
import { type AskedSandbox, askFiles } from "../bridge/files.ts";
import { type BridgeEnv, isAwake } from "../bridge/upstream.ts";
import type { ExecSession } from "../sandbox/directory.ts";
import type { Execution } from "./exec.ts";

/** Characters of a session's environment: it is stored. */
export const MAX_ENVIRONMENT = 65_536;

const FOLDER = "SBX_EXEC_STATE";
/** Its arguments: the exec's own directory or nothing, the words. The folder is none of them: other users see those. */
const SCRIPT = `
__r=$${FOLDER} __d=$1; __f=$__r/state; shift; unset ${FOLDER}
[ -d "$__r" ] || PATH=/usr/bin:/bin mkdir -m 700 -- "$__r"
if [ -L "$__r" ] || ! [ -O "$__r" ]; then
  echo "the session's environment can't be kept in $__r" >&2
  exit 126
fi
if [ -O "$__f" ]; then
  for __v in $(compgen -e); do unset "$__v"; done 2>/dev/null
  . "$__f"
  cd -- "$PWD" 2>/dev/null || cd -- "$OLDPWD" 2>/dev/null
fi
__p=$PWD
if [ -n "$__d" ]; then cd -- "$__d" || exit 126; fi
"$@"
__s=$?
if [ -n "$__d" ]; then cd -- "$__p" 2>/dev/null; fi
declare -px >"$__f.$$" && PATH=/usr/bin:/bin mv -f -- "$__f.$$" "$__f"
exit $__s`;

/** @param state Names the folder. */
export function within(
  { session, state }: { readonly session: ExecSession; readonly state: string },
  { argv, cwd = "", ...rest }: Execution,
): Execution {
  return {
    ...rest,
    argv: ["bash", "-c", SCRIPT, "exec", cwd, ...argv],
    line: argv[0],
    ...session,
    env: { ...session.env, [FOLDER]: folderOf(state) },
  };
}

/** Removes what was left for these sessions. A container that sleeps has nothing any more. */
export async function forget(env: BridgeEnv, { sandboxKey, sandbox }: AskedSandbox, states: readonly string[]) {
  if (states.length === 0 || !(await isAwake(env, sandboxKey))) return;
  const order = { op: "remove", recursive: true, force: true } as const;
  const asked = states.map((state) => askFiles(env, sandboxKey, sandbox, { ...order, path: folderOf(state) }));
  for (const { answer } of await Promise.all(asked)) {
    if (!answer.ok) log.warn("the environment of a deleted session stays:", answer.message);
  }
}

function folderOf(state: string): string {
  return `/tmp/.sbx-exec-${state}`;
}
