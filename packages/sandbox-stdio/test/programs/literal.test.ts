// A literal is found where `indexOf` finds it.
import fc from "fast-check";
import { expect, test } from "vitest";
import { Literal } from "../../src/programs/pattern.ts";

test("T2: a literal is found where indexOf finds it, in texts of few characters", () => {
  const of = (minLength: number, maxLength: number) =>
    fc.string({ unit: fc.constantFrom("a", "b", "😀"), minLength, maxLength });
  const property = fc.property(of(1, 8), of(0, 60), fc.nat(10), (wanted, text, from) => {
    expect(new Literal(wanted).indexIn(text, from)).toBe(text.indexOf(wanted, from));
  });
  fc.assert(property, { numRuns: 500 });
});
