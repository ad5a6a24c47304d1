// The variables of a process by the policy that codex sends with its start (E3).

/** As codex says it. */
export type EnvPolicy = {
  readonly inherit: "all" | "core" | "none";
  readonly ignoreDefaultExcludes?: boolean | undefined;
  readonly exclude?: readonly string[] | undefined;
  readonly set?: Readonly<Record<string, string>> | undefined;
  readonly includeOnly?: readonly string[] | undefined;
};

/** With `core` these alone are inherited. */
const CORE = ["HOME", "LOGNAME", "PATH", "SHELL", "USER", "USERNAME", "TMPDIR", "TEMP", "TMP"];
/** What a name may hold that is a secret's, most likely. */
const DEFAULT_EXCLUDES = ["*KEY*", "*SECRET*", "*TOKEN*"];

type Variables = Readonly<Record<string, string>>;

/** @param base The environment that a session's process gets. */
export function applyEnvPolicy(base: Variables, policy: EnvPolicy): Record<string, string> {
  const { inherit, ignoreDefaultExcludes = false, exclude = [], set = {}, includeOnly = [] } = policy;
  const excluded = [...(ignoreDefaultExcludes ? [] : DEFAULT_EXCLUDES), ...exclude].map(matcher);
  const included = includeOnly.map(matcher);
  const isInherited = (name: string) => inherit === "all" || (inherit === "core" && CORE.includes(name));
  const kept = Object.entries(base).filter(([name]) => isInherited(name) && !excluded.some((is) => is(name)));
  const all = [...kept, ...Object.entries(set)];
  return Object.fromEntries(included.length === 0 ? all : all.filter(([name]) => included.some((is) => is(name))));
}

/** `*` stands for any characters and `?` for one, whatever their case. */
function matcher(pattern: string): (name: string) => boolean {
  const wanted = pattern.toLowerCase();
  return (name) => isMatch(name.toLowerCase(), wanted);
}

/** In time that no pattern makes long: after a failure only the last `*` takes one character more. */
function isMatch(name: string, pattern: string): boolean {
  let [at, star, resume] = [0, -1, 0];
  for (let i = 0; i < name.length; ) {
    if (at < pattern.length && (pattern[at] === "?" || pattern[at] === name[i]) && pattern[at] !== "*") {
      at += 1;
      i += 1;
    } else if (pattern[at] === "*") {
      star = at;
      resume = i;
      at += 1;
    } else if (star >= 0) {
      at = star + 1;
      resume += 1;
      i = resume;
    } else return false;
  }
  while (pattern[at] === "*") at += 1;
  return at === pattern.length;
}
