// Decodes UTF-8 byte by byte, replacing malformed bytes like TextDecoder: each longest start of a character that can't continue
// becomes one U+FFFD.

export class Utf8Reader {
  /** The character continues with the next byte. */
  static readonly GOES_ON = -1;
  /** The byte does not belong to the current character and must be pushed again. */
  static readonly CUT = -2;
  #missing = 0;
  #code = 0;
  #min = 0x80;
  #max = 0xbf;
  /** Offset of the last character's first byte. */
  startOffset = 0;
  /** Bytes of the last character so far. */
  width = 0;

  get isInCharacter(): boolean {
    return this.#missing > 0;
  }

  /** Takes one byte from 0x80 on, or any byte inside a character. @returns A code point, {@link GOES_ON} or {@link CUT}. */
  push(byte: number, offset: number): number {
    if (this.#missing === 0) return this.#begin(byte, offset);
    if (byte < this.#min || byte > this.#max) {
      this.#missing = 0;
      return Utf8Reader.CUT;
    }
    this.#min = 0x80;
    this.#max = 0xbf;
    this.#code = (this.#code << 6) | (byte & 0x3f);
    this.width += 1;
    this.#missing -= 1;
    return this.#missing === 0 ? this.#code : Utf8Reader.GOES_ON;
  }

  /** Abandons an unfinished character. @returns The number of its bytes. */
  cut(): number {
    this.#missing = 0;
    return this.width;
  }

  #begin(byte: number, offset: number): number {
    this.startOffset = offset;
    this.width = 1;
    this.#min = byte === 0xe0 ? 0xa0 : byte === 0xf0 ? 0x90 : 0x80;
    this.#max = byte === 0xed ? 0x9f : byte === 0xf4 ? 0x8f : 0xbf;
    if (byte < 0xc2 || byte > 0xf4) return 0xfffd;
    this.#missing = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
    this.#code = byte & (0x3f >> this.#missing);
    return Utf8Reader.GOES_ON;
  }
}
