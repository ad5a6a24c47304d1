// A tool's result (M1): what a program printed stands once, as text content; structured content has the other fields. All of it
// together has a budget, and what is left out is said.

import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Fields } from "./request.ts";
import type { Tool } from "./table.ts";

/** Most bytes of a result as JSON; the rest is for the protocol's envelope. */
export const RESULT_BYTES = 65_536 - 512;
/** How much output one call asks for at most: JSON writes line ends and escape sequences longer than they are. */
export const OUTPUT_BYTES = 48 * 1024;
/** From where on a text among the other fields is shortened, if there is too much. */
const LONG_TEXT = 1_000;
const SHORTENED = `Texts of more than ${LONG_TEXT} characters are cut, where "…" stands.`;
/** How much of the budget the other fields get at most, which stand in the result twice. */
const FIELDS_BYTES = RESULT_BYTES / 4;

export function sizeOf(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}

/** @param hints Sentences for a model. */
export function resultOf({ printed }: Tool, body: Fields, hints: readonly string[]): CallToolResult {
  const text = printed?.of(body);
  return assembled(text, printed === undefined ? body : without(body, printed.fields), hints);
}

/** The same with long texts among the fields shortened. */
export function shortResultOf(tool: Tool, body: Fields, hints: readonly string[]): CallToolResult {
  return resultOf(tool, shortened(body) as Fields, [...hints, SHORTENED]);
}

/** The same for an answer that is too long whatever is asked for: cut here. */
export function cutResultOf(tool: Tool, body: Fields, hints: readonly string[]): CallToolResult {
  const { printed } = tool;
  const left: string[] = [];
  const fields = printed === undefined ? body : without(body, printed.fields);
  const rest = sizeOf(fields) > FIELDS_BYTES ? cutFields(tool, fields, left) : fields;
  const text = printed?.of(body);
  if (text === undefined) return assembled(undefined, rest, [...hints, ...left]);
  const said = (length: number) => {
    const where = tool.isEndKept === true ? "beginning" : "end";
    return `${length} characters at the ${where} of the output are left out: a result has at most 64 KiB.`;
  };
  let kept = text;
  for (;;) {
    const notes = kept === text ? left : [said(text.length - kept.length), ...left];
    const result = assembled(kept, rest, [...hints, ...notes]);
    const excess = sizeOf(result) - RESULT_BYTES;
    if (excess <= 0) return result;
    const length = Math.floor(kept.length * Math.max(0, 1 - excess / sizeOf(kept)) * 0.99);
    kept = tool.isEndKept === true ? kept.slice(kept.length - length) : kept.slice(0, length);
  }
}

function assembled(text: string | undefined, fields: Fields, hints: readonly string[]): CallToolResult {
  const words = [...(text === undefined ? [] : [text]), JSON.stringify(fields), ...hints];
  return { content: words.map((one) => ({ type: "text", text: one })), structuredContent: { ...fields } };
}

function without(body: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)));
}

/** Shortens long texts, then leaves out items of lists. @param left Is told what. */
function cutFields({ isEndKept }: Tool, fields: Fields, left: string[]): Fields {
  const short = { ...(shortened(fields) as Fields) };
  left.push(SHORTENED);
  for (const [name, value] of Object.entries(short)) {
    if (!Array.isArray(value)) continue;
    let items: unknown[] = value;
    for (
      let size = sizeOf(short);
      items.length > 0 && size > FIELDS_BYTES;
      size = sizeOf({ ...short, [name]: items })
    ) {
      const kept = Math.floor((items.length * 0.99 * FIELDS_BYTES) / size);
      items = isEndKept === true ? items.slice(items.length - kept) : items.slice(0, kept);
    }
    if (items.length === value.length) continue;
    const which = isEndKept === true ? "first" : "last";
    left.push(`The ${which} ${value.length - items.length} of ${value.length} ${name} are left out.`);
    short[name] = items;
  }
  return short;
}

function shortened(value: unknown): unknown {
  if (typeof value === "string") return value.length > LONG_TEXT ? `${value.slice(0, LONG_TEXT)}…` : value;
  if (Array.isArray(value)) return value.map(shortened);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shortened(one)]));
}
