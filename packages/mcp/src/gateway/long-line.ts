// A message that is longer than one may be: only what its answer needs is kept of it, its id and whether it is a request.

export type LongLineState = {
  /** Bytes so far. */
  readonly length: number;
  readonly depth: number;
  readonly isInString: boolean;
  readonly isEscaped: boolean;
  /** Whether a field's name is awaited, of the message itself. */
  readonly isAtName: boolean;
  readonly name: string;
  /** The value of the message's `id`, as it stands there. */
  readonly id: string;
  readonly hasMethod: boolean;
};

const [QUOTE, BACKSLASH, COLON, COMMA] = [0x22, 0x5c, 0x3a, 0x2c];
const [BRACE, BRACKET, END_BRACE, END_BRACKET] = [0x7b, 0x5b, 0x7d, 0x5d];
/** Longest name or id kept; our requests have no longer ones. */
const MAX_KEPT = 1_024;
const START: LongLineState = {
  ...{ length: 0, depth: 0, isInString: false, isEscaped: false, isAtName: false },
  ...{ name: "", id: "", hasMethod: false },
};

/** Reads JSON byte by byte, and is at home in any part of it that it was stopped in. */
export class LongLine {
  #length: number;
  #depth: number;
  #isInString: boolean;
  #isEscaped: boolean;
  #isAtName: boolean;
  #name: string;
  #id: string;
  #hasMethod: boolean;

  /** @param state Of an earlier one that it goes on from. */
  constructor(state: LongLineState = START) {
    this.#length = state.length;
    this.#depth = state.depth;
    this.#isInString = state.isInString;
    this.#isEscaped = state.isEscaped;
    this.#isAtName = state.isAtName;
    this.#name = state.name;
    this.#id = state.id;
    this.#hasMethod = state.hasMethod;
  }

  get state(): LongLineState {
    return {
      ...{ length: this.#length, depth: this.#depth, isInString: this.#isInString, isEscaped: this.#isEscaped },
      ...{ isAtName: this.#isAtName, name: this.#name, id: this.#id, hasMethod: this.#hasMethod },
    };
  }

  push(bytes: Uint8Array): void {
    this.#length += bytes.length;
    for (const byte of bytes) {
      if (this.#isInString) this.#inString(byte);
      else this.#between(byte);
    }
  }

  /** What is known of the message; undefined where it is none. */
  get message(): Readonly<Record<string, unknown>> | undefined {
    if (this.#depth !== 0 || this.#isInString) return undefined;
    const method = this.#hasMethod ? { method: "" } : {};
    if (this.#id === "") return this.#hasMethod ? method : undefined;
    try {
      const id = new TextDecoder().decode(Uint8Array.from(this.#id, (byte) => byte.charCodeAt(0)));
      return { id: JSON.parse(id) as unknown, ...method };
    } catch {
      return undefined;
    }
  }

  #inString(byte: number): void {
    this.#keep(byte);
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === BACKSLASH) this.#isEscaped = true;
    else if (byte === QUOTE) this.#isInString = false;
  }

  #between(byte: number): void {
    if (byte === END_BRACE || byte === END_BRACKET) this.#depth -= 1;
    if (this.#depth === 1 && byte === COLON && this.#isAtName) {
      this.#isAtName = false;
      this.#hasMethod ||= this.#name === '"method"';
      if (this.#name === '"id"') this.#id = "";
      return;
    }
    if (this.#depth === 1 && byte === COMMA) this.#nextName();
    else if (byte > 0x20) this.#keep(byte);
    if (byte === QUOTE) this.#isInString = true;
    if (byte !== BRACE && byte !== BRACKET) return;
    this.#depth += 1;
    if (this.#depth === 1) this.#nextName();
  }

  #nextName(): void {
    this.#isAtName = true;
    this.#name = "";
  }

  #keep(byte: number): void {
    if (this.#depth !== 1) return;
    if (this.#isAtName) this.#name = kept(this.#name, byte);
    else if (this.#name === '"id"') this.#id = kept(this.#id, byte);
  }
}

/** Bytes as Latin-1. */
const kept = (text: string, byte: number) => (text.length < MAX_KEPT ? text + String.fromCharCode(byte) : text);
