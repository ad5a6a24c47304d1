// The query of another product's client as an attach query: a terminal, with the defaults of its route.

import type { AttachWish } from "../server/dialect.ts";
import { parseAttachQuery, type URLSearchParamsLike } from "../wire/attach-query.ts";
import { CLOSE } from "../wire/constants.ts";

/** Parameters that every such client may give beside its own. */
const COMMON = ["cols", "rows", "name", "role"];

/**
 * @param own The route's parameters, by the names of `/attach`; they go before the client's. A list is `arg`.
 * @param search The client's query, of which the size, the name and the role are taken.
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
