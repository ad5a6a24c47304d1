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
  const [first = "", ...rest] = pattern.toLowerCase().split("*");
  const last = rest.pop();
  return (name) => {
    const text = name.toLowerCase();
    if (!isAt(text, first, 0)) return false;
    if (last === undefined) return text.length === first.length;
    // The earliest place of each part leaves the most for those behind it, so that none is looked for twice.
    let at = first.length;
    for (const part of rest) {
      while (at <= text.length && !isAt(text, part, at)) at += 1;
      at += part.length;
    }
    return at <= text.length - last.length && isAt(text, last, text.length - last.length);
  };
}

function isAt(text: string, part: string, at: number): boolean {
  return at + part.length <= text.length && part.split("").every((one, i) => one === "?" || one === text[at + i]);
}
