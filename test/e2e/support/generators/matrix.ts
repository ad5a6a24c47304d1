// Who asks, and what is asked, in the matrix of every route by every kind of identity.

import { HttpRefusal } from "../clients/client.ts";
import { type ForeignClient, foreign } from "../clients/foreign-client.ts";
import { loginCookie } from "../clients/login.ts";
import { api, fresh, mint, type Person, person, system } from "../system/system.ts";

/** What is asked about. `shared` is a session that lives, for links to be made of, where `session` does not. */
export type Place = { readonly sandbox: string; readonly session: string; readonly shared?: string };

/** How somebody shows who they are, to a place: by headers, or in the query. A ticket is made anew for each request. */
export type Shown = {
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: { readonly ticket: string } | { readonly token: string };
};

export type Kind = {
  readonly name: string;
  show(place: Place): Promise<Shown>;
};

/** What is asked, of a place that was made for it. */
export type Question = {
  /** What is said of it in the table, beside the route. */
  readonly what?: string;
  /**
   * `lives`: the session that all share. `own`: one that lives, for one who asks alone. `none`: one that is not there. `pty`: one
   * that a route of that dialect made. */
  readonly about?: "lives" | "own" | "none" | "pty";
  ask(shown: Shown, place: Place): Promise<string>;
};

/** Everybody of the table, in the order of its columns; and the one who makes what they ask for. */
export async function kinds(): Promise<{ readonly owner: Person; readonly kinds: readonly Kind[] }> {
  const owner = await person();
  const { org } = owner;
  const admin = await person({ org, scope: "sandbox:admin" });
  const revoked = await person({ org, scope: "sandbox:admin" });
  const outcome = await post(admin, "/api/revocations", { sub: revoked.sub });
  if (outcome.status !== 204) throw new Error(`Not revoked: ${outcome.status}`);
  const withToken = (name: string, token: string): Kind => ({
    name,
    show: async () => ({ headers: { Authorization: `Bearer ${token}` } }),
  });
  const loggedOut = await loginCookie(fresh("person"), org);
  const page = { Cookie: loggedOut, Origin: system.origin };
  await api(undefined, "/logout", { method: "POST", headers: page });
  const withTicket = (name: string, make: (place: Place) => Promise<Response>): Kind => ({
    name,
    show: async (place) => {
      const { ticket } = (await (await make(place)).json()) as { ticket: string };
      return { query: { ticket } };
    },
  });
  return {
    owner,
    kinds: [
      { name: "nobody", show: async () => ({}) },
      withToken("expired", await mint({ sub: owner.sub, org, scope: "sandbox:admin", expires: -3600 })),
      withToken("revoked", revoked.token),
      { name: "logged out", show: async () => ({ headers: page }) },
      {
        // Somebody new each time: what one of them makes under the same names is not there for the next.
        name: "other tenant",
        show: async () => ({
          headers: { Authorization: `Bearer ${(await person({ scope: "sandbox:admin" })).token}` },
        }),
      },
      withToken("viewer", await mint({ sub: fresh("viewer"), org, scope: "sandbox:connect" })),
      withTicket("guest link", ({ sandbox, session, shared = session }) =>
        post(owner, `/api/sandboxes/${sandbox}/sessions/${shared}/share`, { guests: true, role: "viewer" }),
      ),
      withTicket("attach ticket", ({ sandbox, session }) => post(owner, "/api/tickets", { sandbox, session })),
      withToken("driver", owner.token),
      { name: "driver, `?token=`", show: async () => ({ query: { token: owner.token } }) },
      withToken("admin", admin.token),
    ],
  };
}

export function post(who: Person, path: string, body: object): Promise<Response> {
  return api(who, path, { method: "POST", body: JSON.stringify(body) });
}

/** What is the same everywhere, or of a place. */
type At<T> = T | ((place: Place) => T);
const at = <T extends string | object | undefined>(what: At<T>, place: Place): T =>
  typeof what === "function" ? what(place) : what;

/** A request, answered by its status, the error's name, and where it leads. */
export function http(method: string, path: At<string>, body?: At<object>): Question {
  return {
    ask: async ({ headers, query }, place) => {
      const said = at<object | undefined>(body, place);
      const init = { method, headers: { ...headers }, ...(said === undefined ? {} : { body: JSON.stringify(said) }) };
      const response = await api(undefined, withQuery(at(path, place), query), init);
      const text = await response.text();
      const error = /"(?:error|code)":"(\w+)"|\((bad_\w+)\)/.exec(text);
      return [response.status, error?.[1] ?? error?.[2]].filter((part) => part !== undefined).join(" ");
    },
  };
}

/** The same, of a message to an MCP server. */
export function rpc(path: At<string>, method: string): Question {
  const message = { jsonrpc: "2.0", id: 1, method, params: {} };
  const { ask } = http("POST", path, message);
  const headers = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
  return { ask: (shown, place) => ask({ ...shown, headers: { ...headers, ...shown.headers } }, place) };
}

type UpgradeOptions = Pick<Question, "about"> & {
  readonly protocol?: string;
  /** What the client says first. Given where the route accepts first, and then says whether somebody is let in. */
  readonly first?: string;
};

/** An upgrade, answered by `in`, or how it was refused: by HTTP, or by a close. */
export function upgrade(what: string, path: (place: Place) => string, options: UpgradeOptions = {}): Question {
  const { protocol, first, about } = options;
  return {
    what,
    ...(about === undefined ? {} : { about }),
    ask: async ({ headers = {}, query }, place) => {
      const protocols = protocol === undefined ? [] : [protocol];
      try {
        const client = await foreign(undefined, withQuery(path(place), query), { headers, protocols });
        if (first !== undefined) client.socket.send(first);
        const outcome = first === undefined ? "in" : await outcomeOf(client);
        client.socket.terminate();
        return outcome;
      } catch (error) {
        if (!(error instanceof HttpRefusal)) throw error;
        const said = JSON.parse(error.body) as { error: string; code?: string };
        return `${error.status} ${said.code ?? said.error}`;
      }
    },
  };
}

/** `in` once it is greeted, in the words of `stdio.v1` or of ttyd; else the code of its close. */
async function outcomeOf(client: ForeignClient): Promise<string> {
  const isGreeted = () => client.messages("hello").length > 0 || client.bytes().toString().startsWith("1");
  const closed = client.end().then(({ code }) => String(code));
  return Promise.race([
    client.until("a greeting", isGreeted).then(
      () => "in",
      () => closed,
    ),
    closed,
  ]);
}

function withQuery(path: string, query: Shown["query"]): string {
  return query === undefined ? path : `${path}${path.includes("?") ? "&" : "?"}${new URLSearchParams(query)}`;
}
