// zod's schema of a field, and of an object of fields, as sandbox-stdio describes them.

import type { Field, Fields, Kind } from "sandbox-stdio/shapes";
import * as z from "zod";

type Schema<F> =
  F extends Field<infer T, infer P>
    ? P extends "required"
      ? z.ZodType<T, T>
      : P extends "optional"
        ? z.ZodOptional<z.ZodType<T, T>>
        : z.ZodDefault<z.ZodType<T, T>>
    : never;
type Shape<F> = { -readonly [K in keyof F]: Schema<F[K]> };

/** The schema of a body: unknown fields are refused. */
export const bodyOf = <F extends Fields>(fields: F) => z.strictObject(shapeOf(fields));
/** The schema of a query, whose numbers come as text. */
export const queryOf = <F extends Fields>(fields: F) => z.strictObject(shapeOf(fields, true));
export const answerOf = <F extends Fields>(fields: F) => z.object(shapeOf(fields));

function shapeOf<F extends Fields>(fields: F, isText = false): Shape<F> {
  const shape = Object.entries(fields).map(([name, field]) => [name, schemaOf(field, isText)]);
  return Object.fromEntries(shape) as Shape<F>;
}

function schemaOf(field: Field, isText: boolean): z.ZodType {
  const { presence, usual, about } = field;
  const kind = kindOf(field, isText);
  const present =
    presence === "required" ? kind : presence === "optional" ? kind.optional() : kind.default(usual as never);
  return about === undefined ? present : present.describe(about);
}

function kindOf(kind: Kind, isText = false): z.ZodType {
  switch (kind.kind) {
    case "integer": {
      const { min, max } = kind;
      if (isText) return z.coerce.number().int().min(min).max(max);
      return min === Number.MIN_SAFE_INTEGER ? z.int() : z.int().min(min).max(max);
    }
    case "choice":
      return z.enum(kind.values);
    case "flag":
      return z.boolean();
    case "text":
      return textOf(kind);
    case "only":
      return z.literal(kind.value);
    case "list":
      return z.array(kindOf(kind.of));
    case "texts":
      return variables;
    case "object":
      return kind.isOpen ? z.looseObject(shapeOf(kind.fields)) : z.object(shapeOf(kind.fields));
    case "union":
      return z.union(kind.of.map(alternativeOf), { error: kind.form });
    case "nullable":
      return kindOf(kind.of).nullable();
    case "any":
      return z.unknown();
  }
}

/** One of several requests: it has no fields but its own. */
function alternativeOf(kind: Kind): z.ZodType {
  return kind.kind === "object" ? bodyOf(kind.fields) : kindOf(kind);
}

function textOf({ format, min, max, pattern }: Kind & { kind: "text" }): z.ZodType {
  if (format === "base64") return z.base64();
  if (format !== undefined) return z.iso.datetime(format === "zoned time" ? { offset: true } : {});
  let schema = z.string();
  if (min !== undefined) schema = schema.min(min);
  if (max !== undefined) schema = schema.max(max);
  return pattern === undefined ? schema : schema.regex(pattern);
}

const variables = z.custom<Record<string, string>>(isVariables, "is an object whose values are texts");
// zod's own record leaves out the variable named `__proto__`.
variables._zod.toJSONSchema = () => ({ type: "object", additionalProperties: { type: "string" } });

function isVariables(value: unknown): boolean {
  const isFields = typeof value === "object" && value !== null && !Array.isArray(value);
  return isFields && Object.values(value).every((one) => typeof one === "string");
}
