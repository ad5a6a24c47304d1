// What the shell's marks say of itself: its directory, and the command that runs (OSC 633 and 133). Pure.

export type ShellFacts = { readonly cwd: string | undefined; readonly running: string | undefined };

export const NO_FACTS: ShellFacts = { cwd: undefined, running: undefined };

const MAX_LENGTH = 4_096;

/** The facts after a mark; the same object if nothing changes. @param line The line that the shell said to run next. */
export function afterMark(facts: ShellFacts, kind: "633" | "133", text: string, line: string | undefined): ShellFacts {
  if (kind === "633") {
    const cwd = text.startsWith("P;Cwd=") ? unescapeMark(text.slice("P;Cwd=".length)) : undefined;
    // A program may print anything: only what can be a directory counts.
    const isPath = cwd?.startsWith("/") === true && cwd.length <= MAX_LENGTH && !/\p{Cc}/u.test(cwd);
    return isPath && cwd !== facts.cwd ? { ...facts, cwd } : facts;
  }
  if (text.startsWith("C")) return { ...facts, running: line };
  return /^[AD]/.test(text) && facts.running !== undefined ? { ...facts, running: undefined } : facts;
}

/** The command line of a mark; undefined if it is none. */
export function lineOfMark(text: string): string | undefined {
  return text.startsWith("E;") && text.length <= MAX_LENGTH
    ? unescapeMark(text.slice(2).split(";")[0] ?? "")
    : undefined;
}

/** As VS Code's shell integration writes it: `\\` and `\x3b`. */
function unescapeMark(text: string): string {
  return text.replaceAll(/\\(?:\\|x([\da-f]{2}))/gi, (_, hex?: string) =>
    hex === undefined ? "\\" : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
