// Who a person is that signs in at the issuer: the question that differs between `npm start`, where anybody may be anybody, and `serve`.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Person } from "./tokens.ts";

/** What a person's browser has posted; absent where it has only asked for the page. */
export type Form = URLSearchParams | undefined;

export type Decision =
  | { readonly kind: "approved"; readonly person: Person }
  | { readonly kind: "refused" }
  /** `status`: of the page that asks again. Default: 200. */
  | { readonly kind: "undecided"; readonly problem?: string; readonly status?: number };

export interface Admission {
  /** What a person has decided by a sign-in form, or what is wrong with the form. */
  decide(form: URLSearchParams, request: IncomingMessage): Promise<Decision>;
  /** The person of this browser, where it need not be asked. Asked only for the page's own sign-in. */
  known(request: IncomingMessage): Person | undefined;
  /** Whether a login that goes on without its person may still do so. */
  stillMay(person: Person): boolean;
  /** The form's fields and buttons, and what stands below it: HTML. */
  fields(
    suggestedUser: string | undefined,
    request: IncomingMessage,
  ): { readonly fields: string; readonly note: string };
  /** What its own pages may post, by path. */
  readonly posts: Readonly<
    Record<string, (form: URLSearchParams, request: IncomingMessage, response: ServerResponse) => void>
  >;
  /** What it answers itself, by path: with the query. */
  readonly gets: Readonly<
    Record<string, (query: URLSearchParams, request: IncomingMessage, response: ServerResponse) => Promise<void>>
  >;
}
