// A scrollback search: its query, outcome and text. Pure.

import type { Texts } from "../texts/texts.ts";

export type SearchOptions = {
  readonly isRegex: boolean;
  readonly isCaseSensitive: boolean;
  readonly isWholeWord: boolean;
};

export type SearchState = {
  readonly term: string;
  readonly options: SearchOptions;
  readonly outcome: SearchOutcome;
};

export type SearchOutcome =
  | { readonly kind: "nothing-asked" }
  | { readonly kind: "bad-pattern" }
  | { readonly kind: "searching" }
  /** `index` counts from 0; undefined if there are too many to number. */
  | { readonly kind: "found"; readonly index: number | undefined; readonly count: number; readonly isMore: boolean };

export const EMPTY_SEARCH: SearchState = {
  term: "",
  options: { isRegex: false, isCaseSensitive: false, isWholeWord: false },
  outcome: { kind: "nothing-asked" },
};

/** Limit of highlighted and numbered matches. */
export const SEARCH_LIMIT = 1_000;

/** The outcome before searching. */
export function outcomeBefore(term: string, { isRegex }: SearchOptions): SearchOutcome {
  if (term === "") return { kind: "nothing-asked" };
  if (!isRegex) return { kind: "searching" };
  try {
    // As the addon does. A pattern that matches the empty text would match everywhere.
    return new RegExp(term, "g").test("") ? { kind: "bad-pattern" } : { kind: "searching" };
  } catch {
    // SyntaxError: an invalid or incomplete pattern.
    return { kind: "bad-pattern" };
  }
}

/** Word boundaries as in the addon: letters of every script are part of words. */
const BOUNDARIES = " ~!@#$%^&*()+`\\-=\\[\\]{}|\\\\;:\"',./<>?";

/** Term and option for the addon, whose whole-word search skips a line if its first match is part of a word. */
export function addonSearch(term: string, { isRegex, isWholeWord }: SearchOptions): { term: string; regex: boolean } {
  if (!isWholeWord) return { term, regex: isRegex };
  const pattern = isRegex ? term : term.replaceAll(/[.*+?^${}()|[\]\\/-]/g, "\\$&");
  return { term: `(?<![^${BOUNDARIES}])(?:${pattern})(?![^${BOUNDARIES}])`, regex: true };
}

/** @param index The addon's: -1 for none or too many. */
export function outcomeAfter(index: number, count: number): SearchOutcome {
  const isMore = count >= SEARCH_LIMIT;
  return { kind: "found", index: index < 0 ? undefined : index, count, isMore };
}

export function outcomeText(outcome: SearchOutcome, words: Texts["search"]): string {
  switch (outcome.kind) {
    case "nothing-asked":
    case "searching":
      return "";
    case "bad-pattern":
      return words.badPattern;
    case "found":
      if (outcome.count === 0) return words.none;
      return outcome.index === undefined
        ? words.count(outcome.count, outcome.isMore)
        : words.place(outcome.index + 1, outcome.count, outcome.isMore);
  }
}
