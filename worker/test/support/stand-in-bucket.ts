// A bucket that fails, is slow, or stores and answers as if it had not: as the test says for each call.

/** What becomes of a `put`. `late`: it is stored, and told to have failed; later it is stored once more. */
export type PutFate = "good" | "fails" | "late" | "never";

export class StandInBucket {
  readonly objects = new Map<string, Uint8Array>();
  puts = 0;
  /** Keys that were written with other bytes than before. */
  readonly overwritten: string[] = [];
  fate: () => PutFate = () => "good";
  readFate: () => "good" | "fails" | "never" = () => "good";

  async put(key: string, bytes: Uint8Array): Promise<void> {
    this.puts += 1;
    const fate = this.fate();
    const copy = bytes.slice();
    if (fate === "fails") throw new Error("put: internal error (10001)");
    if (fate === "never") return new Promise(() => undefined);
    this.#store(key, copy);
    if (fate === "good") return;
    setTimeout(() => this.#store(key, copy), 5);
    throw new Error("put: the connection was lost");
  }

  async get(key: string) {
    const fate = this.readFate();
    if (fate === "fails") throw new Error("get: internal error (10001)");
    if (fate === "never") return new Promise<null>(() => undefined);
    const bytes = this.objects.get(key);
    return bytes === undefined ? null : { arrayBuffer: async () => bytes.slice().buffer };
  }

  async delete(keys: readonly string[]): Promise<void> {
    for (const key of keys) this.objects.delete(key);
  }

  #store(key: string, bytes: Uint8Array): void {
    const before = this.objects.get(key);
    if (before !== undefined && !before.every((byte, i) => byte === bytes[i])) this.overwritten.push(key);
    this.objects.set(key, bytes);
  }
}
