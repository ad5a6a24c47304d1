// A tool's call as a request to its route, and the route's answer as a result.

import { ROUTES, type Route } from "@sbx/api";

/** A request below the server's origin. */
export type ApiRequest = {
  readonly method: string;
  readonly path: string;
  /** JSON. */
  readonly body?: string;
};

export type Fields = Readonly<Record<string, unknown>>;

export function requestOf(operation: string, { sandbox, ...fields }: Fields): ApiRequest {
  const route: Route | undefined = ROUTES.find((one) => one.operation === operation);
  if (route === undefined) throw new TypeError(`Cannot find the route of ${operation}`);
  const { method } = route;
  const isNamed = route.path.includes("{name}");
  const { session, ...rest } = fields;
  const sent = isNamed ? rest : fields;
  const below = route.path.replace("{name}", encodeURIComponent(String(session)));
  const path = `/api/sandboxes/${encodeURIComponent(String(sandbox))}${below}`;
  if (route.body !== undefined) return { method, path, body: JSON.stringify(sent) };
  const given = Object.entries(sent).filter(([, value]) => value !== undefined);
  const query = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString();
  return { method, path: query === "" ? path : `${path}?${query}` };
}

export type ApiAnswer =
  | { readonly ok: true; readonly body: Fields }
  | { readonly ok: false; readonly status: number; readonly error: string; readonly body: Fields };

/** A refusal is one also where it comes late, as the body of a 200 (R4). */
export async function answerOf(response: Response): Promise<ApiAnswer> {
  const text = (await response.text()).trim();
  let body: Fields = {};
  try {
    const parsed: unknown = text === "" ? {} : JSON.parse(text);
    if (typeof parsed === "object" && parsed !== null) body = parsed as Fields;
  } catch {
    return refusedAs(response.status, { error: "bad_answer", message: `the server answered HTTP ${response.status}` });
  }
  return response.ok && typeof body.error !== "string" ? { ok: true, body } : refusedAs(response.status, body);
}

function refusedAs(status: number, body: Fields): ApiAnswer {
  return { ok: false, status, error: typeof body.error === "string" ? body.error : `http_${status}`, body };
}
