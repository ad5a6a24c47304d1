// The steps of a person's sign-in at the local issuer: who they are, and whether a program may go on. No password is asked for.
import type { IncomingMessage, ServerResponse } from "node:http";
import type Provider from "oidc-provider";
import { errors } from "oidc-provider";
import { messagePage, pageHeaders, signInPage } from "./pages.ts";
import { approve, grantedScope, type People } from "./provider.ts";
import type { Person } from "./tokens.ts";

/** What a person's browser has posted; absent where it has only asked for the page. */
export type Form = URLSearchParams | undefined;

/** Parameters of a request, as oidc-provider keeps them. */
type Asked = Readonly<Partial<Record<"client_id" | "scope" | "resource" | "login_hint", string>>>;

type Decision =
  | { readonly kind: "approved"; readonly person: Person }
  | { readonly kind: "refused" }
  | { readonly kind: "undecided"; readonly problem?: string };

/** What a person has decided by a sign-in form, or what is wrong with the form. */
function decisionOf(form: Form): Decision {
  if (form === undefined) return { kind: "undecided" };
  if (form.has("refuse")) return { kind: "refused" };
  const sub = (form.get("as") ?? form.get("user") ?? "").trim();
  const org = (form.get("org") ?? "").trim();
  const undecided = (problem: string): Decision => ({ kind: "undecided", problem });
  if (!/^[\w.@+-]{1,64}$/.test(sub)) return undecided("A user name is 1 to 64 letters, digits and . @ + - _");
  if (!/^[\w.@+-]{0,64}$/.test(org)) return undecided("An organisation is at most 64 letters, digits and . @ + - _");
  return { kind: "approved", person: org === "" ? { sub } : { sub, org } };
}

export class SignIn {
  readonly #provider: Provider;
  readonly #people: People;
  readonly #origin: string;

  /** @param origin Of the page that people sign in to. */
  constructor(provider: Provider, people: People, origin: string) {
    this.#provider = provider;
    this.#people = people;
    this.#origin = origin;
  }

  /** The page of a browser's sign-in; with a form, its effect. */
  async browser(request: IncomingMessage, response: ServerResponse, form: Form): Promise<void> {
    const details = await this.#provider.interactionDetails(request, response).catch((error: unknown) => {
      if (error instanceof errors.SessionNotFound) return undefined;
      throw error;
    });
    if (details === undefined) {
      const message = "This sign-in has ended, or was begun elsewhere. Go back to the page and sign in again.";
      return this.#show(response, 400, messagePage("Cannot sign in", message));
    }
    const asked = details.params as Asked;
    const decision = decisionOf(form);
    if (decision.kind === "refused") {
      return this.#provider.interactionFinished(request, response, { error: "access_denied" });
    }
    if (decision.kind === "approved") {
      const grantId = await approve(this.#provider, this.#people, decision.person, asked);
      const result = { login: { accountId: decision.person.sub }, consent: { grantId } };
      return this.#provider.interactionFinished(request, response, result);
    }
    const page = signInPage({
      title: "Sign in to sbx-stdio",
      explanation: `The page at ${this.#origin} asks for: ${grantedScope(asked.scope)}`,
      action: `/interaction/${details.uid}`,
      suggestedUser: asked.login_hint,
      refusal: "Cancel",
      problem: decision.problem,
    });
    this.#show(response, 200, page);
  }

  /** The page on which a person lets in a program that shows a code; with a form, its effect. */
  async device(response: ServerResponse, linked: string, form: Form): Promise<void> {
    const typed = (form?.get("user_code") ?? linked).toUpperCase().replace(/[^A-Z]/g, "");
    const found = await this.#provider.DeviceCode.findByUserCode(typed);
    const code = found?.accountId === undefined && found?.error === undefined ? found : undefined;
    const asked = (code?.params ?? {}) as Asked;
    const decision = decisionOf(form);
    if (code === undefined || decision.kind === "undecided") {
      const missing = "No program is waiting with this code: it may have expired, or been used.";
      const problem = decision.kind === "undecided" ? decision.problem : missing;
      const asks = code === undefined ? "" : `, which asks for: ${grantedScope(asked.scope)}`;
      const page = signInPage({
        title: "Sign in a program",
        explanation: `Signs in the program that shows the code below${asks}. Go on only if you started it yourself.`,
        action: "/device",
        userCode: typed === "" ? "" : `${typed.slice(0, 4)}-${typed.slice(4)}`,
        refusal: "Refuse",
        problem,
      });
      return this.#show(response, 200, page);
    }
    if (decision.kind === "refused") {
      await Object.assign(code, { error: "access_denied", errorDescription: "The person refused" }).save();
      return this.#show(
        response,
        200,
        messagePage("Refused", "The program was not signed in. You can close this page."),
      );
    }
    const { person } = decision;
    const grantId = await approve(this.#provider, this.#people, person, asked);
    const granted = { accountId: person.sub, grantId, scope: grantedScope(asked.scope), resource: asked.resource };
    await Object.assign(code, granted, { authTime: Math.floor(Date.now() / 1000) }).save();
    const message = `The program is signed in as ${person.sub}. You can close this page.`;
    this.#show(response, 200, messagePage("Signed in", message));
  }

  #show(response: ServerResponse, status: number, page: string): void {
    response.writeHead(status, pageHeaders(this.#origin)).end(page);
  }
}
