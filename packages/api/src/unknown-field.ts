// The field of a request that no schema knows, and the name that was most likely meant: a word too much, or another word for the same.

import * as z from "zod";

export type UnknownField = {
  readonly field: string;
  /** Of the fields that may stand there, the one whose name is most like it. */
  readonly nearest: string;
};

/** Another word for the same, in names elsewhere. */
const SAME_WORDS: Readonly<Record<string, string>> = { timeout: "wait", workdir: "cwd", directory: "cwd", dir: "cwd" };

/** @param issues Of a check against `schema`, which is strict. */
export function unknownFieldOf(schema: z.ZodObject, issues: readonly z.core.$ZodIssue[]): UnknownField | undefined {
  for (const { code, path, ...issue } of issues) {
    if (code !== "unrecognized_keys" || !("keys" in issue)) continue;
    const names = namesOf(path.reduce<unknown>((inside, name) => shapeOf(inside)[String(name)], schema));
    const [field = ""] = issue.keys;
    // A field of another alternative is not unknown.
    if (names.length > 0 && !names.includes(field)) return { field, nearest: nearestName(field, names) };
  }
  return undefined;
}

export function unknownFieldWords({ field, nearest }: UnknownField): string {
  return `unknown field "${field}": the nearest is "${nearest}"`;
}

function shapeOf(schema: unknown): Readonly<Record<string, unknown>> {
  return schema instanceof z.ZodObject ? schema.shape : {};
}

function namesOf(schema: unknown): string[] {
  return schema instanceof z.ZodUnion ? schema.options.flatMap(namesOf) : Object.keys(shapeOf(schema));
}

/** @param names Not empty. */
export function nearestName(name: string, names: readonly string[]): string {
  const told = wordsOf(name);
  const distances = names.map((one) => ({ one, distance: distanceOf(told, wordsOf(one)) }));
  return distances.reduce((least, next) => (next.distance < least.distance ? next : least), {
    one: "",
    distance: Number.POSITIVE_INFINITY,
  }).one;
}

/** `max_bytes` is `maxBytes`, and `timeoutMs` much like `waitMs`. A name may be as long as a body. */
function wordsOf(name: string): string {
  const words = name
    .slice(0, MAX_NAME)
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[\s_-]+/);
  return words.map((word) => (Object.hasOwn(SAME_WORDS, word) ? SAME_WORDS[word] : word)).join("");
}

const MAX_NAME = 64;

/** How many characters are to be put in, left out or exchanged. */
function distanceOf(one: string, other: string): number {
  let last = Array.from({ length: other.length + 1 }, (_, i) => i);
  for (let i = 0; i < one.length; i += 1) {
    const row = [i + 1];
    for (let j = 0; j < other.length; j += 1) {
      const exchanged = (last[j] ?? 0) + (one[i] === other[j] ? 0 : 1);
      row.push(Math.min(exchanged, (last[j + 1] ?? 0) + 1, (row[j] ?? 0) + 1));
    }
    last = row;
  }
  return last[other.length] ?? 0;
}
