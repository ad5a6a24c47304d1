// Regular expressions in RE2 syntax (T4), compiled to the program that `sandbox-stdio` runs over output as it comes. re2js
// parses and compiles; its own engine is not used, since it can neither stop half way nor go on with more text.

import { RE2JS } from "re2js";
import { OP, type PatternProgram } from "sandbox-stdio/programs";

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

type PatternSize = {
  /** At most so many instructions, counted repetitions multiplied out. */
  readonly instructions: number;
  /** About so many steps to build its classes, which repetitions share. */
  readonly classSteps: number;
};

/** Steps to merge one of the largest Unicode classes with others, as measured beside a folded range. */
const UNICODE_CLASS_STEPS = 4_000;
/** Where case is folded, a range is built character by character between these, and no others. */
const MIN_FOLDED = 0x41;
const MAX_FOLDED = 0x1e943;

/** One item of RE2 syntax; what is no other is one character. */
const TOKEN = new RegExp(
  [
    String.raw`\\Q(?<quoted>.*?)(?:\\E|$)`,
    String.raw`(?<open>\((?:\?P?<[^>]*>|(?!\?)))`,
    String.raw`(?<flags>\(\?[a-zA-Z-]*\))`,
    String.raw`(?<plain>\(\?[a-zA-Z-]*:)`,
    String.raw`(?<close>\))`,
    String.raw`(?<bar>\|)`,
    String.raw`(?<class>\[\^?\]?(?:\[:[^\]]*:\]|\\.|[^\]\\])*\])`,
    String.raw`\{(?<least>0|[1-9]\d*)(?:(?<comma>,)(?<most>0|[1-9]\d*)?)?\}`,
    "(?<repeat>[*+?])",
    String.raw`\\[pPx]\{[^}]*\}|\\[pP].|\\x[0-9a-fA-F]{2}|\\.|.`,
  ].join("|"),
  "gsu",
);
const UNICODE_CLASS = /\\[pP]/g;
/** Each dash of a class with what stands on its two sides, by number where it is so written. */
const CLASS_RANGE = /(?<=(\\x\{[^}]*\}|.))-(?=(\\x\{[^}]*\}|[^\]\\]))/gsu;

const CAPTURE_SIZE = 2;

/** A group that is open: what its finished items take, and the last item, which a repetition would repeat. */
type Group = { done: number; last: number; isEmpty: boolean; readonly own: number };

/**
 * An upper bound of the size of an expression's program, computed from its text in linear time (T4), so that an expression that is
 * too large is refused without being compiled. Returns a number even for an invalid expression.
 */
export function patternSize(source: string, flags = ""): PatternSize {
  const isFolded = flags.includes("i") || /\(\?[a-zA-Z-]*i/.test(source);
  const groups: Group[] = [];
  let group = newGroup(0);
  let classSteps = (source.match(UNICODE_CLASS)?.length ?? 0) * UNICODE_CLASS_STEPS;
  const add = (size: number) => {
    group.done += group.last;
    group.last = size;
    group.isEmpty = false;
  };
  for (const { 0: item, groups: part = {} } of source.matchAll(TOKEN)) {
    if (part.quoted !== undefined) for (const _ of part.quoted) add(1);
    else if (part.open !== undefined || part.plain !== undefined) {
      groups.push(group);
      group = newGroup(part.open === undefined ? 0 : CAPTURE_SIZE);
    } else if (part.close !== undefined) {
      const size = sizeOf(group);
      group = groups.pop() ?? newGroup(0);
      add(size);
    } else if (part.bar !== undefined) {
      group = { own: group.own, done: sizeOf(group) - group.own + 1, last: 0, isEmpty: true };
    } else if (part.repeat !== undefined) group.last += part.repeat === "*" ? 2 : 1;
    else if (part.least !== undefined) group.last = repeated(group.last, part);
    else if (part.flags === undefined) {
      if (part.class !== undefined && isFolded) classSteps += foldedSteps(item);
      add(1);
    }
  }
  // A program has an instruction that fails, and one that has matched.
  const instructions = [...groups, group].reduce((sum, open) => sum + sizeOf(open), 2);
  return { instructions, classSteps };
}

function newGroup(own: number): Group {
  return { done: 0, last: 0, isEmpty: true, own };
}

/** A branch without items is one instruction. */
function sizeOf({ done, last, isEmpty, own }: Group): number {
  return done + last + (isEmpty ? 1 : 0) + own;
}

function repeated(size: number, { least, comma, most }: Readonly<Record<string, string | undefined>>): number {
  const min = Number(least);
  if (comma !== undefined && most === undefined) return min === 0 ? size + 2 : min * size + 1;
  const max = comma === undefined ? min : Number(most);
  return Math.max(1, max * size + max - min);
}

function foldedSteps(text: string): number {
  let steps = 0;
  for (const [, low = "", high = ""] of text.replace(/^\[\^?/, "").matchAll(CLASS_RANGE)) {
    steps += Math.max(0, Math.min(codeOf(high), MAX_FOLDED) - Math.max(codeOf(low), MIN_FOLDED));
  }
  return steps;
}

function codeOf(character: string): number {
  const hex = /^\\x\{(.*)\}$/.exec(character)?.[1];
  return hex === undefined ? (character.codePointAt(0) ?? 0) : Number.parseInt(hex, 16) || 0;
}
