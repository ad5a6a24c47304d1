// Describes values once: a parameter's type, check and text derive from its field, and so do the zod schemas of packages/api.
// This package has no dependencies, so the description can't be zod's.

import { type Check, isArrayOf, isBoolean, isInteger, isMatch, isOneOf, isString } from "./schema.ts";

export type Kind = {
  /** Describes a valid text in a query, for messages. */
  readonly form?: string;
} & (
  | { readonly kind: "integer"; readonly min: number; readonly max: number }
  | { readonly kind: "choice"; readonly values: readonly string[] }
  | { readonly kind: "flag" | "any" }
  | {
      readonly kind: "text";
      readonly min?: number;
      readonly max?: number;
      readonly pattern?: RegExp;
      readonly format?: "base64" | "time" | "zoned time";
    }
  /** Exactly one value. */
  | { readonly kind: "only"; readonly value: string | boolean }
  | { readonly kind: "list" | "nullable"; readonly of: Kind }
  /** An object whose values are strings. */
  | { readonly kind: "texts" }
  | { readonly kind: "object"; readonly fields: Fields; readonly isOpen: boolean }
  | { readonly kind: "union"; readonly of: readonly Kind[] }
);

/** `usual`: may be omitted, and then has a default. */
export type Presence = "required" | "optional" | "usual";

export type Field<T = unknown, P extends Presence = Presence> = Kind & {
  /** Never set; carries the type. */
  readonly type?: T;
  readonly presence: P;
  /** Default of a `usual` field. Absent if it depends on other fields. */
  readonly usual?: T | undefined;
  /** One line for documents and help. */
  readonly about?: string | undefined;
};
export type Fields = Readonly<Record<string, Field>>;

type Needed<T> = Field<T, "required">;
const needed = <T>(kind: Kind): Needed<T> => ({ ...kind, presence: "required" });

export const integer = (min: number, max: number) =>
  needed<number>({ kind: "integer", min, max, form: `an integer from ${min} to ${max}` });
export const offset = integer(0, Number.MAX_SAFE_INTEGER);
export const choice = <const V extends readonly string[]>(...values: V) =>
  needed<V[number]>({ kind: "choice", values, form: values.join(" or ") });
export const flag = needed<boolean>({ kind: "flag", form: "0 or 1" });
export const text = (limits: Omit<Kind & { kind: "text" }, "kind"> = {}) => needed<string>({ kind: "text", ...limits });
export const only = <const V extends string | boolean>(value: V) => needed<V>({ kind: "only", value });
export const list = <T>(of: Needed<T>) => needed<T[]>({ kind: "list", of });
export const texts = needed<Record<string, string>>({ kind: "texts" });
export const object = <const F extends Fields>(fields: F) =>
  needed<Given<F>>({ kind: "object", fields, isOpen: false });
/** Allows further fields. */
export const openObject = <const F extends Fields>(fields: F) =>
  needed<Given<F> & { [more: string]: unknown }>({ kind: "object", fields, isOpen: true });
export const union = <T>(form: string, ...of: Needed<T>[]) => needed<T>({ kind: "union", of, form });
export const nullable = <T>(of: Needed<T>) => needed<T | null>({ kind: "nullable", of });
export const any = needed<unknown>({ kind: "any" });

export const optional = <T>(field: Needed<T>, about?: string): Field<T, "optional"> => ({
  ...field,
  presence: "optional",
  about,
});
/** @param usual Omitted if it depends on other fields. */
export const usually = <T>(field: Needed<T>, usual?: NoInfer<T>, about?: string): Field<T, "usual"> => ({
  ...field,
  presence: "usual",
  usual,
  about,
});

export type ValueOf<F> = F extends Field<infer T> ? T : never;
type KeysOf<F, P extends Presence> = { [K in keyof F]: F[K] extends Field<unknown, P> ? K : never }[keyof F];
type Flat<T> = { [K in keyof T]: T[K] };

/** The fields as a caller passes them. */
export type Asked<F> = Flat<
  { [K in KeysOf<F, "required">]: ValueOf<F[K]> } & {
    [K in KeysOf<F, "optional" | "usual">]?: ValueOf<F[K]> | undefined;
  }
>;
/** The fields after reading, or of an answer: defaults are filled in. */
export type Given<F> = Flat<
  { [K in KeysOf<F, "required" | "usual">]: ValueOf<F[K]> } & { [K in KeysOf<F, "optional">]?: ValueOf<F[K]> }
>;

// ---- As text, in a query ----------------------------------------------------------------------------------------------

/** @returns undefined if the text is not a valid value. */
export function readText(kind: Kind, given: string): unknown {
  switch (kind.kind) {
    case "integer": {
      const value = /^\d{1,16}$/.test(given) ? Number(given) : Number.NaN;
      return value >= kind.min && value <= kind.max ? value : undefined;
    }
    case "flag":
      return given === "1" ? true : given === "0" ? false : undefined;
    case "choice":
      return kind.values.includes(given) ? given : undefined;
    case "only":
      return given === kind.value ? given : undefined;
    case "union":
      return kind.of.map((one) => readText(one, given)).find((value) => value !== undefined);
    case "text":
      return given.length > (kind.max ?? Number.POSITIVE_INFINITY) || kind.pattern?.test(given) === false
        ? undefined
        : given;
    default:
      return undefined; // Other kinds never occur as one query value.
  }
}

// ---- In JSON ----------------------------------------------------------------------------------------------------------

/** @param maxLength Applies to texts without a limit. @param maxItems Applies to lists. */
export function checkOf(kind: Kind, maxLength: number, maxItems: number): Check {
  switch (kind.kind) {
    case "integer":
      return isInteger(kind.min, kind.max);
    case "flag":
      return isBoolean;
    case "choice":
      return isOneOf(...kind.values);
    case "list":
      return isArrayOf(checkOf(kind.of, maxLength, maxItems), maxItems);
    case "text":
      return kind.pattern === undefined ? isString(kind.max ?? maxLength) : isMatch(kind.pattern);
    default:
      throw new TypeError(`Cannot check "${kind.kind}" here`);
  }
}

// ---- Objects with fields that may be absent -----------------------------------------------------------------------------

type Defined<T> = Flat<
  { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
    [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
  }
>;

/** A copy without the undefined fields. */
export function defined<T extends object>(given: T): Defined<T> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Defined<T>;
}
