// Reads ALiS v1 as the specification has it, for tests: strict, where the stock player is lenient.

export type AlisEvent = {
  readonly type: string;
  readonly id?: number;
  readonly lastId?: number;
  readonly timeUs?: number;
  readonly afterUs?: number;
  readonly cols?: number;
  readonly rows?: number;
  readonly init?: string;
  readonly text?: string;
  readonly label?: string;
  readonly status?: number;
};

/** @throws If a message has too few bytes, or too many. */
export function readAlis(messages: readonly Uint8Array[]): AlisEvent[] {
  return messages.map((message, index) => {
    const reader = new Reader(message);
    const event = index === 0 ? reader.magic() : reader.event();
    reader.end();
    return event;
  });
}

class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  magic(): AlisEvent {
    const text = new TextDecoder().decode(this.#take(5));
    if (text !== "ALiS\x01") throw new Error(`no ALiS v1: ${JSON.stringify(text)}`);
    return { type: "magic" };
  }

  event(): AlisEvent {
    const code = this.#take(1)[0] ?? 0;
    if (code === 0x01) {
      const [lastId, timeUs, cols, rows] = [this.#number(), this.#number(), this.#number(), this.#number()];
      if (this.#take(1)[0] !== 0) throw new Error("a theme");
      return { type: "reset", lastId, timeUs, cols, rows, init: this.#text() };
    }
    if (code === 0x04) {
      this.#number();
      return { type: "eot" };
    }
    const type = String.fromCharCode(code);
    const [id, afterUs] = [this.#number(), this.#number()];
    if (type === "o") return { type, id, afterUs, text: this.#text() };
    if (type === "m") return { type, id, afterUs, label: this.#text() };
    if (type === "r") return { type, id, afterUs, cols: this.#number(), rows: this.#number() };
    if (type === "x") return { type, id, afterUs, status: this.#number() };
    throw new Error(`an unknown event: ${code}`);
  }

  end(): void {
    if (this.#at !== this.#bytes.length) throw new Error("bytes behind the message");
  }

  #number(): number {
    let [value, scale] = [0, 1];
    for (;;) {
      const byte = this.#take(1)[0] ?? 0;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 0x80;
    }
  }

  #text(): string {
    return new TextDecoder().decode(this.#take(this.#number()));
  }

  #take(length: number): Uint8Array {
    if (this.#at + length > this.#bytes.length) throw new Error("the message is cut short");
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }
}
