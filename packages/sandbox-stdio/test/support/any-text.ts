import fc from "fast-check";

/** Any text of at most so many code points, half characters too. To make fast-check's own of the unit "binary" takes seconds. */
export function anyText(maxLength: number, minLength = 0): fc.Arbitrary<string> {
  const point = fc.oneof(fc.nat(0x7f), fc.nat(0x7ff), fc.nat(0xffff), fc.nat(0x10ffff));
  return fc.array(point, { minLength, maxLength }).map((points) => String.fromCodePoint(...points));
}
