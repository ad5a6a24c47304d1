// Times at which something comes due, of which there may be none.

/** The earlier of two times; undefined: never. */
export function earlier(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || (b !== undefined && b < a) ? b : a;
}
