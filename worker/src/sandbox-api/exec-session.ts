// Sessions of execs (V3): each exec is a process of its own. A bash takes up the directory and the exported variables that the last one
// left in a file of the sandbox, runs the words of the exec as its own command, so that `cd` and `export` count, and leaves both again.

import type { ExecSession } from "../sandbox/directory.ts";
import type { Execution } from "./exec.ts";

/** Characters of a session's environment: it is stored. */
export const MAX_ENVIRONMENT = 65_536;

/** Its arguments: the file, the exec's own directory or nothing, the words. */
const SCRIPT = `
__f=$1 __d=$2; shift 2
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
(umask 077; declare -px >"$__f.$$") && mv -f -- "$__f.$$" "$__f"
exit $__s`;

/** @param state Names the file. */
export function within(
  { session, state }: { readonly session: ExecSession; readonly state: string },
  { argv, cwd = "", ...rest }: Execution,
): Execution {
  return {
    ...rest,
    argv: ["bash", "-c", SCRIPT, "exec", `/tmp/.sbx-exec-${state}`, cwd, ...argv],
    line: argv[0],
    ...session,
  };
}
