// Finds a literal in linear time, whatever is looked for and in what. `indexOf` takes as long as both lengths multiplied, where
// much of the literal stands everywhere in the text.

export class Literal {
  readonly text: string;
  /** Of each beginning of the literal, how long the longest shorter one is that it ends with. */
  readonly #borders: Uint16Array;

  /** @param text Not empty, and shorter than 65,536 units. */
  constructor(text: string) {
    this.text = text;
    this.#borders = new Uint16Array(text.length);
    let length = 0;
    for (let i = 1; i < text.length; i += 1) {
      length = this.#longer(length, text.charCodeAt(i));
      this.#borders[i] = length;
    }
  }

  /** As `String.indexOf`. */
  indexIn(text: string, from: number): number {
    const wanted = this.text.length;
    let length = 0;
    for (let i = from; i < text.length; i += 1) {
      length = this.#longer(length, text.charCodeAt(i));
      if (length === wanted) return i + 1 - wanted;
    }
    return -1;
  }

  /** How much of the literal the text ends with after one more unit. */
  #longer(matched: number, unit: number): number {
    let length = matched;
    while (length > 0 && this.text.charCodeAt(length) !== unit) length = this.#borders[length - 1] ?? 0;
    return this.text.charCodeAt(length) === unit ? length + 1 : length;
  }
}
