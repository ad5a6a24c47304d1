// Finds the positions at which a terminal's output may be cut: outside escape sequences and UTF-8 characters, by the same states as
// the emulator's parser.

const GROUND = 0;
const ESCAPE = 1;
const ESCAPE_INTERMEDIATE = 2;
const CSI_ENTRY = 3;
const CSI_PARAM = 4;
const CSI_INTERMEDIATE = 5;
const CSI_IGNORE = 6;
const OSC = 7;
const DCS_ENTRY = 8;
const DCS = 9;
/** SOS, PM or APC. */
const OTHER_STRING = 10;

const BEL = 0x07;
const CAN = 0x18;
const SUB = 0x1a;
const ESC = 0x1b;
const DEL = 0x7f;

/** Follows one output, chunk by chunk. */
export class Boundary {
  #state = GROUND;
  /** Bytes of a UTF-8 character that are still to come, and its value so far. */
  #charBytesLeft = 0;
  #char = 0;

  /** Whether the output may be cut after the last byte. */
  get isSafe(): boolean {
    return this.#state === GROUND && this.#charBytesLeft === 0;
  }

  /** Begins a sequence like the open one, but without an effect when it ends. "": none is open. */
  get opener(): string {
    if (this.#state === GROUND) return "";
    if (this.#state === OSC) return "\x1b]9999;";
    return this.#state >= DCS_ENTRY ? "\x1bX" : "\x1b[<";
  }

  /** The last position in `bytes` at which the output may be cut; -1: none, not even the start. */
  lastSafe(bytes: Uint8Array): number {
    const { length } = bytes;
    let safe = -1;
    for (let at = 0; at < length; at += 1) {
      const byte = bytes[at] ?? 0;
      if (this.isSafe) {
        if (byte < 0xc2 && byte !== ESC) continue;
        safe = at;
      }
      this.#take(byte);
    }
    return this.isSafe ? length : safe;
  }

  /** The position behind the next sequence that ends at `from` or later, or the end of `bytes`. */
  sequenceEnd(bytes: Uint8Array, from: number): number {
    for (let at = from; at < bytes.length; at += 1) {
      const wasOpen = this.#state !== GROUND;
      this.#take(bytes[at] ?? 0);
      if (wasOpen && this.#state === GROUND) return at + 1;
    }
    return bytes.length;
  }

  #take(byte: number): void {
    if (this.#charBytesLeft > 0) {
      if ((byte & 0xc0) === 0x80) {
        this.#char = (this.#char << 6) | (byte & 0x3f);
        this.#charBytesLeft -= 1;
        if (this.#charBytesLeft === 0) this.#takeChar(this.#char);
        return;
      }
      // The character is cut off: this byte begins another one.
      this.#charBytesLeft = 0;
    }
    if (byte < 0x80) this.#state = after(this.#state, byte);
    else if (byte >= 0xc2 && byte < 0xf5) {
      this.#charBytesLeft = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
      this.#char = byte < 0xe0 ? byte & 0x1f : byte < 0xf0 ? byte & 0x0f : byte & 0x07;
    }
  }

  #takeChar(char: number): void {
    if (char >= 0xa0) {
      const isInside = [CSI_IGNORE, OSC, DCS].includes(this.#state);
      if (!isInside) this.#state = GROUND;
    } else if (char === 0x9b) this.#state = CSI_ENTRY;
    else if (char === 0x9d) this.#state = OSC;
    else if (char === 0x90) this.#state = DCS_ENTRY;
    else if (char === 0x98 || char === 0x9e || char === 0x9f) this.#state = OTHER_STRING;
    else this.#state = GROUND;
  }
}

function after(state: number, byte: number): number {
  if (byte === ESC) return ESCAPE;
  if (byte === CAN || byte === SUB) return GROUND;
  if (state === OSC) return byte === BEL ? GROUND : OSC;
  if (state === DCS || state === OTHER_STRING || state === GROUND) return state;
  if (byte < 0x20 || byte === DEL) return state;
  const isFinal = byte >= 0x40;
  switch (state) {
    case ESCAPE:
      return afterEscape(byte);
    case ESCAPE_INTERMEDIATE:
      return byte < 0x30 ? ESCAPE_INTERMEDIATE : GROUND;
    case CSI_ENTRY:
      return isFinal ? GROUND : byte < 0x30 ? CSI_INTERMEDIATE : CSI_PARAM;
    case CSI_PARAM:
      return isFinal ? GROUND : byte < 0x30 ? CSI_INTERMEDIATE : byte < 0x3c ? CSI_PARAM : CSI_IGNORE;
    case CSI_INTERMEDIATE:
      return isFinal ? GROUND : byte < 0x30 ? CSI_INTERMEDIATE : CSI_IGNORE;
    case CSI_IGNORE:
      return isFinal ? GROUND : CSI_IGNORE;
    default:
      return isFinal ? DCS : DCS_ENTRY;
  }
}

function afterEscape(byte: number): number {
  if (byte < 0x30) return ESCAPE_INTERMEDIATE;
  switch (byte) {
    case 0x5b: // [
      return CSI_ENTRY;
    case 0x5d: // ]
      return OSC;
    case 0x50: // P
      return DCS_ENTRY;
    case 0x58: // X
    case 0x5e: // ^
    case 0x5f: // _
      return OTHER_STRING;
    default:
      return GROUND;
  }
}
