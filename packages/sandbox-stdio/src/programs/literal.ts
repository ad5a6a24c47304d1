// Finds a literal in linear time for any input. `indexOf` may take time proportional to the product of both lengths if large
// parts of the literal occur everywhere.

export class Literal {
  readonly text: string;
  /** For each prefix of the literal, the length of its longest proper border. */
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

  /** Like `String.indexOf`. */
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
