// Converts the query of another product's client to an attach query for a terminal, with its route's defaults.

import type { AttachWish } from "../server/dialect.ts";
import { parseAttachQuery, type URLSearchParamsLike } from "../wire/attach-query.ts";
import { CLOSE } from "../wire/constants.ts";

/** Parameters that every such client may send. */
const COMMON = ["cols", "rows", "name", "role"];

/**
 * @param own The route's parameters, by their names in `/attach`; they override the client's. `arg` is a list.
 * @param search The client's query; only size, name and role are used.
 */
export function terminalQuery(
  own: Readonly<Record<string, string | readonly string[]>>,
  search: URLSearchParamsLike,
): AttachWish {
  const getAll = (name: string): string[] => {
    const value = own[name] ?? (COMMON.includes(name) ? (search.get(name) ?? []) : []);
    return typeof value === "string" ? [value] : [...value];
  };
  const parsed = parseAttachQuery({ get: (name) => getAll(name)[0] ?? null, getAll });
  return parsed.ok ? parsed : { ...parsed, code: CLOSE.badRequest, error: "bad_request" };
}
