// Regular expressions in RE2 syntax (T4), compiled to the program that `sandbox-stdio` runs over output as it comes. re2js
// parses and compiles; its own engine is not used, since it can neither stop half way nor go on with more text.

import { RE2JS } from "re2js";
import { OP, type PatternProgram } from "sandbox-stdio/programs";
import { patternSize } from "./pattern-size.ts";

/** Characters of an expression. */
export const MAX_PATTERN_LENGTH = 1_000;
/** Instructions of a compiled expression. */
export const MAX_PATTERN_INSTRUCTIONS = 10_000;
/** Steps to build an expression's classes: 50 Unicode classes, or some wide ranges where case does not matter. */
const MAX_CLASS_STEPS = 200_000;
/**
 * Stands before each expression and changes no match: re2js tries a faster engine on what begins with `^`, and copies every class
 * for that, which costs more than all the rest.
 */
const NO_ONE_PASS = "\\b??";
/** Instructions times capture slots: the most that a search for groups may hold at one time. */
const MAX_PATTERN_CELLS = 500_000;

export type PatternResult =
  | { readonly ok: true; readonly program: PatternProgram }
  /** Answered as 400 `bad_pattern`. */
  | { readonly ok: false; readonly message: string };

/** An instruction as re2js has it. */
interface Re2Instruction {
  readonly op: number;
  readonly out: number;
  readonly arg: number;
  matchRune(rune: number): boolean;
}

interface Re2Program {
  readonly inst: readonly Re2Instruction[];
  readonly start: number;
}

/** Numbers of re2js's instructions, which a test holds against the pinned version. */
const OPS: readonly (number | undefined)[] = [
  undefined,
  OP.alt,
  OP.alt,
  OP.capture,
  OP.empty,
  OP.fail,
  OP.match,
  OP.nop,
  OP.rune,
  OP.rune,
  OP.any,
  OP.anyNotNewline,
];

/**
 * @param flags Any of `i` (case does not matter), `m` (`^` and `$` at each line), `s` (`.` matches a line end), once each.
 */
export function compilePattern(source: string, flags = ""): PatternResult {
  if (source.length > MAX_PATTERN_LENGTH) return refuse(`more than ${MAX_PATTERN_LENGTH} characters`);
  if (!/^[ims]{0,3}$/.test(flags) || new Set(flags).size !== flags.length) return refuse('flags are "i", "m" and "s"');
  // Decided before compiling, which takes seconds for what is much too large.
  const { instructions, classSteps } = patternSize(source, flags);
  if (instructions > MAX_PATTERN_INSTRUCTIONS) {
    return refuse(`${instructions} instructions, more than ${MAX_PATTERN_INSTRUCTIONS}`);
  }
  if (classSteps > MAX_CLASS_STEPS) return refuse("too many Unicode classes");
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(NO_ONE_PASS + source, flagBits(flags));
  } catch (error) {
    return refuse((error instanceof Error ? error.message : String(error)).replace(NO_ONE_PASS, ""));
  }
  const size = compiled.programSize();
  const groups = compiled.groupCount();
  if (size * (groups + 1) * 2 > MAX_PATTERN_CELLS) return refuse(`too many groups for ${size} instructions`);
  return programOf(compiled.re2().prog as Re2Program, groups);
}

function programOf({ inst, start }: Re2Program, groups: number): PatternResult {
  const ops = new Uint8Array(inst.length);
  for (const [pc, { op }] of inst.entries()) {
    const own = OPS[op];
    if (own === undefined) return refuse("lookbehinds are not supported");
    ops[pc] = own;
  }
  const program: PatternProgram = {
    ops,
    outs: Int32Array.from(inst, ({ out }) => out),
    args: Int32Array.from(inst, ({ arg }) => arg),
    start,
    groups,
    matchesRune: (pc, rune) => inst[pc]?.matchRune(rune) ?? false,
  };
  return { ok: true, program };
}

function flagBits(flags: string): number {
  let bits = 0;
  if (flags.includes("i")) bits |= RE2JS.CASE_INSENSITIVE;
  if (flags.includes("m")) bits |= RE2JS.MULTILINE;
  if (flags.includes("s")) bits |= RE2JS.DOTALL;
  return bits;
}

function refuse(message: string): PatternResult {
  return { ok: false, message };
}
