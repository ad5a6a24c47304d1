// The mutants of docs/proof/equivalent-mutants.jsonl: no caller can see them, so no test can notice them. Finds each in its source.
import { join } from "node:path";
import { parseSync } from "vite";
import { readTextIfPresent } from "../../packages/local/src/base/files.ts";
import { ROOT } from "../../packages/local/src/base/paths.ts";
import { type Mutant, mutantsOf, type SyntaxNode } from "./mutants.ts";

const LIST = join(ROOT, "docs/proof/equivalent-mutants.jsonl");

/** A line of the list. */
export interface Equivalent {
  readonly file: string;
  /** First line of the replaced text. */
  readonly was: string;
  readonly replacement: string;
  /** Decides between several such mutants of the file. */
  readonly line: number;
  readonly why: string;
}

export const mutantKey = (file: string, { start, end, replacement }: Omit<Mutant, "kind" | "instead">): string =>
  [file, start, end, replacement].join(" ");

export function mutantsIn(file: string, text: string): Mutant[] {
  return mutantsOf(text, parseSync(file, text).program as unknown as SyntaxNode);
}

export function readEquivalents(): Equivalent[] {
  const lines = (readTextIfPresent(LIST) ?? "").split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as Equivalent);
}

/** Those of `mutants` that the line means; if there are none, the source has changed since. */
export function meantBy({ was, replacement, line }: Equivalent, text: string, mutants: readonly Mutant[]): Mutant[] {
  const alike = mutants.filter(
    ({ start, end, replacement: by }) => by === replacement && text.slice(start, end).split("\n")[0] === was,
  );
  const lineOf = ({ start }: Mutant): number => text.slice(0, start).split("\n").length;
  return alike.length > 1 ? alike.filter((mutant) => lineOf(mutant) === line) : alike;
}

/** Each line of the list with the keys of the mutants that it means. */
export function findEquivalents(): { readonly equivalent: Equivalent; readonly keys: readonly string[] }[] {
  const sources = new Map<string, { readonly text: string; readonly mutants: readonly Mutant[] }>();
  const sourceOf = (file: string) => {
    const text = readTextIfPresent(join(ROOT, file)) ?? "";
    const source = sources.get(file) ?? { text, mutants: mutantsIn(file, text) };
    sources.set(file, source);
    return source;
  };
  return readEquivalents().map((equivalent) => {
    const { text, mutants } = sourceOf(equivalent.file);
    const keys = meantBy(equivalent, text, mutants).map((mutant) => mutantKey(equivalent.file, mutant));
    return { equivalent, keys };
  });
}
