// UTF-8 without platform APIs: lengths, and cutting without splitting a character.

/** Length of `text` in UTF-8. */
export function utf8Length(text: string): number {
  let length = text.length;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    if (unit < 0x800) length += 1;
    // Each half of a surrogate pair adds one: four bytes for two units.
    else if (unit >= 0xd800 && unit <= 0xdfff) length += isPairAt(text, i) ? 1 : 2;
    else length += 2;
  }
  return length;
}

/** The longest prefix of `text` of at most `maxBytes` bytes. */
export function clipUtf8(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  let clipped = "";
  let length = 0;
  for (const character of text) {
    length += utf8Length(character);
    if (length > maxBytes) break;
    clipped += character;
  }
  return clipped;
}

function isPairAt(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  const isHigh = unit < 0xdc00;
  const other = text.charCodeAt(isHigh ? at + 1 : at - 1);
  return isHigh ? other >= 0xdc00 && other <= 0xdfff : other >= 0xd800 && other < 0xdc00;
}
