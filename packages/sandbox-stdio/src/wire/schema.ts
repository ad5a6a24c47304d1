// Checks JSON shapes. This package has no dependencies, so that every runtime can carry it; control messages are flat objects.

/** Returns undefined if the value fits, else a phrase to follow the field's name ("must be …"). */
export type Check = (value: unknown) => string | undefined;

/** Maps field names to checks. A trailing `?` marks an optional field. */
export type Shape = Readonly<Record<string, Check>>;

export const isString =
  (maxLength = 4096): Check =>
  (value) =>
    typeof value === "string" && value.length <= maxLength
      ? undefined
      : `must be a string of at most ${maxLength} characters`;

/** The pattern must be anchored. */
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

/** Milliseconds as from Date.now(), within the range of Date. */
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

/** Checks an object's fields. Unknown fields are allowed: a newer peer may send them. */
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
