// Which characters of a line are drawn as one, so that a font with ligatures joins them. Pure; both of xterm.js's renderers draw what
// a character joiner names in one go. The list is that of the common programming fonts: reading a font's own tables would need
// the file, which a browser does not give.

/** Longer ones first: the first that fits is taken. */
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

/** @returns Pairs of first column and column after the last, as a character joiner of xterm.js gives them. */
export function ligaturesIn(text: string): [number, number][] {
  return [...text.matchAll(PATTERN)].map(({ 0: whole, index }) => [index, index + whole.length]);
}
