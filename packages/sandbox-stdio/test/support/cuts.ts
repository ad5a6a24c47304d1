/** `raw`, cut at these places. */
export function cutAt(raw: Uint8Array, places: readonly number[]): Uint8Array[] {
  const at = [...new Set(places.map((place) => place % (raw.length + 1)))].sort((a, b) => a - b);
  return [0, ...at].map((from, index) => raw.subarray(from, at[index] ?? raw.length));
}
