// How large an expression's program will be, told from its text alone (T4): an upper bound, in time linear in the text, so that
// what is too large is refused without being compiled. Of a text that is no expression it tells a number all the same.

export type PatternSize = {
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
