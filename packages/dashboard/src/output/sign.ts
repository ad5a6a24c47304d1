// What happened in a session that nobody looked at: its bell, the end of a command. Pure.

/** A failure outlasts a bell, and a bell a command that went well, until somebody looks. */
export type Sign = "failed" | "bell" | "done";

const ORDER: readonly (Sign | undefined)[] = ["failed", "bell", "done", undefined];

export function withSign(before: Sign | undefined, sign: Sign): Sign {
  return ORDER.indexOf(before) < ORDER.indexOf(sign) && before !== undefined ? before : sign;
}

/** @param exit undefined: the shell does not tell it. */
export function signOfEnd(exit: number | undefined): Sign {
  return exit === undefined || exit === 0 ? "done" : "failed";
}
