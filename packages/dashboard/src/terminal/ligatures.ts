// Finds ligatures in a line, for xterm.js's character joiner, which draws them as one. The list covers common programming fonts: a
// browser does not give access to a font's own tables. Pure.

/** Longest first, since the first match counts. */
const LIGATURES = [
  ...["<-->", "<==>", "<~~>", "<!--", "====", "=======", "||=", "|||>", "<|||"],
  ...[
    "-->",
    "->>",
    "-<<",
    "<--",
    "<->",
    "<<-",
    "<=>",
    "<==",
    "==>",
    "=>>",
    "<<=",
    ">>=",
    "=<<",
    "===",
    "!==",
    "=!=",
    "=/=",
  ],
  ...[
    "<~~",
    "~~>",
    "<~>",
    "<|>",
    "<||",
    "||>",
    "<<<",
    ">>>",
    "...",
    "..<",
    "...",
    ":::",
    "::=",
    "///",
    "/**",
    "**/",
    "***",
  ],
  ...["|->", "<-|", "|=>", "<=|", "#{", "##", "###", "####", "+++", "www", "</>", "&&&", "?.", "??", "??="],
  ...["->", "<-", "=>", "<=", ">=", "==", "!=", "~>", "<~", "~~", "~=", "=~", "|>", "<|", "||", "&&", "++", "--", "**"],
  ...["::", ":=", "..", "//", "/*", "*/", "</", "/>", "<>", "<<", ">>", "<$", "<*", "*>", "$>", "<+", "+>", ";;", "!!"],
].sort((one, other) => other.length - one.length);

const PATTERN = new RegExp(
  [...new Set(LIGATURES)].map((each) => each.replaceAll(/[.*+?^${}()|[\]\\/-]/g, "\\$&")).join("|"),
  "g",
);

/** @returns Column ranges [start, end), as xterm.js's joiner takes them. */
export function ligaturesIn(text: string): [number, number][] {
  return [...text.matchAll(PATTERN)].map(({ 0: whole, index }) => [index, index + whole.length]);
}
