// What stands behind `npm run TASK --`: names of parts, and numbers. What means nothing is refused: silence would pass for success.

/** Ends a task with 2, before anything has begun. */
export class WrongWordsError extends Error {}

/** @param fits Whether a word means the part. @returns All of them where no word is said. @throws {WrongWordsError} */
export function partsNamed<Part extends { readonly name: string }>(
  kind: string,
  all: readonly Part[],
  words: readonly string[],
  fits = (name: string, word: string): boolean => name === word,
): readonly Part[] {
  const unknown = words.filter((word) => !all.some(({ name }) => fits(name, word)));
  if (unknown.length > 0) {
    const names = all.map(({ name }) => name).join(", ");
    throw new WrongWordsError(`No such ${kind}: ${unknown.join(", ")}. There are ${names}`);
  }
  return words.length === 0 ? all : all.filter(({ name }) => words.some((word) => fits(name, word)));
}

/** @throws {WrongWordsError} */
export function wholeNumber(option: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new WrongWordsError(`${option} must be a whole number`);
  return Number(text);
}

/** Reads a task's words. Where they mean nothing it says so, and ends the process. */
export function readWords<Read>(read: () => Read): Read {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof WrongWordsError)) throw error;
    console.error(error.message);
    process.exit(2);
  }
}
