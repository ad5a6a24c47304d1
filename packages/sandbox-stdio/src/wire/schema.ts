// A small checker of JSON shapes. This package imports nothing, so that every runtime can carry it; control messages are
// flat objects and need no more than this.

/** Checks one value. Answers undefined if it fits, else a phrase that says what was expected, to stand behind a field's name. */
export type Check = (value: unknown) => string | undefined;

/** Field name to check; a name that ends in `?` may be absent. */
export type Shape = Readonly<Record<string, Check>>;

export const isString =
  (maxLength = 4096): Check =>
  (value) =>
    typeof value === "string" && value.length <= maxLength
      ? undefined
      : `must be a string of at most ${maxLength} characters`;

/** A text of one form: the pattern says where it begins and ends. */
export const isMatch =
  (pattern: RegExp): Check =>
  (value) =>
    typeof value === "string" && pattern.test(value) ? undefined : `must match ${pattern.source}`;

export const isInteger =
  (min: number, max: number): Check =>
  (value) =>
    typeof value === "number" && Number.isSafeInteger(value) && value >= min && value <= max
      ? undefined
      : `must be an integer from ${min} to ${max}`;

/** A position in a stream of bytes: a safe integer, never negative. */
export const isOffset: Check = isInteger(0, Number.MAX_SAFE_INTEGER);

/** A time as Date.now() gives it, which Date can hold. */
export const isTime: Check = isInteger(0, 8_640_000_000_000_000);

export const isNumber: Check = (value) =>
  typeof value === "number" && Number.isFinite(value) ? undefined : "must be a finite number";

export const isBoolean: Check = (value) => (typeof value === "boolean" ? undefined : "must be true or false");

export const isOneOf =
  (...allowed: readonly string[]): Check =>
  (value) =>
    typeof value === "string" && allowed.includes(value) ? undefined : `must be one of ${allowed.join(", ")}`;

export const isArrayOf =
  (item: Check, maxItems: number): Check =>
  (value) => {
    if (!Array.isArray(value) || value.length > maxItems) return `must be a list of at most ${maxItems}`;
    for (const entry of value) {
      const problem = item(entry);
      if (problem !== undefined) return `has an item that ${problem}`;
    }
    return undefined;
  };

export const isObject =
  (shape: Shape): Check =>
  (value) =>
    isRecord(value) ? checkShape(value, shape) : "must be an object";

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Checks an object's fields. Fields that the shape does not name are let through: a newer peer may send them. */
export function checkShape(record: Record<string, unknown>, shape: Shape): string | undefined {
  for (const key in shape) {
    const optional = key.endsWith("?");
    const name = optional ? key.slice(0, -1) : key;
    const value = Object.hasOwn(record, name) ? record[name] : undefined;
    if (value === undefined) {
      if (optional) continue;
      return `"${name}" is missing`;
    }
    const problem = shape[key]?.(value);
    if (problem !== undefined) return `"${name}" ${problem}`;
  }
  return undefined;
}
