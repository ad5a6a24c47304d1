// A second, independent way to plain text, over the whole output at once: the reference for the streaming one.

/** Sequences that the generator makes, all well formed: what a strict reader takes out. */
const SEQUENCE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what this is about
  /\x1b\[[0-?]*[ -/]*[@-~]|\x9b[0-?]*[ -/]*[@-~]|(?:\x1b[\]P_^X]|[\x9d\x90\x9f\x9e\x98])[^\x1b\x07\x9c]*(?:\x1b\\|\x9c)|(?:\x1b\]|\x9d)[^\x1b\x07\x9c]*\x07|\x1b[ -/]+[0-~]|\x1b[0-OQ-WYZ`-~\\]/g;

export function referencePlain(bytes: Uint8Array): string {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  let out = "";
  let line: string[] = [];
  let cursor = 0;
  let last = 0;
  const carryOut = (piece: string) => {
    for (const character of piece) {
      if (character === "\n" || character === "\v" || character === "\f") {
        out += `${line.join("")}\n`;
        line = [];
        cursor = 0;
      } else if (character === "\r") cursor = 0;
      else if (character === "\b") cursor = Math.max(0, cursor - 1);
      else if (character === "\t" || (character >= " " && character !== "\x7f" && !/[\x80-\x9f]/.test(character))) {
        while (line.length < cursor) line.push(" ");
        line[cursor] = character;
        cursor += 1;
      }
    }
  };
  for (const found of text.matchAll(SEQUENCE)) {
    carryOut(text.slice(last, found.index));
    last = found.index + found[0].length;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what this is about
    const csi = /^(?:\x1b\[|\x9b)([012]?)([KG])$/.exec(found[0]);
    if (csi?.[2] === "K") {
      if (csi[1] === "2") line = [];
      else if (csi[1] !== "1") line.length = Math.min(line.length, cursor);
      else if (cursor + 1 >= line.length) line = [];
      else line.fill(" ", 0, cursor + 1);
    } else if (csi?.[2] === "G" && csi[1] !== "2") cursor = 0;
  }
  carryOut(text.slice(last));
  return out + line.join("");
}
