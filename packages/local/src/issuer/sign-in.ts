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

/** The person that a sign-in form names, or the form's fault. */
function personFromForm(form: URLSearchParams): Person | string {
  const sub = (form.get("as") ?? form.get("user") ?? "").trim();
  const org = (form.get("org") ?? "").trim();
  if (!/^[\w.@+-]{1,64}$/.test(sub)) return "A user name is 1 to 64 letters, digits and . @ + - _";
  if (!/^[\w.@+-]{0,64}$/.test(org)) return "An organisation is at most 64 letters, digits and . @ + - _";
  return org === "" ? { sub } : { sub, org };
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
    const person = form === undefined ? undefined : form.has("refuse") ? "refused" : personFromForm(form);
    if (person === "refused") {
      return this.#provider.interactionFinished(request, response, { error: "access_denied" });
    }
    if (typeof person === "object") {
      const grantId = await approve(this.#provider, this.#people, person, asked);
      const result = { login: { accountId: person.sub }, consent: { grantId } };
      return this.#provider.interactionFinished(request, response, result);
    }
    const page = signInPage({
      title: "Sign in to sbx-stdio",
      explanation: `The page at ${this.#origin} asks for: ${grantedScope(asked.scope)}`,
      action: `/interaction/${details.uid}`,
      suggestedUser: asked.login_hint,
      refusal: "Cancel",
      problem: person,
    });
    this.#show(response, 200, page);
  }

  /** The page on which a person lets in a program that shows a code; with a form, its effect. */
  async device(response: ServerResponse, linked: string, form: Form): Promise<void> {
    const typed = (form?.get("user_code") ?? linked).toUpperCase().replace(/[^A-Z]/g, "");
    const found = await this.#provider.DeviceCode.findByUserCode(typed);
    const code = found?.accountId === undefined && found?.error === undefined ? found : undefined;
    const asked = (code?.params ?? {}) as Asked;
    const person = form === undefined ? undefined : form.has("refuse") ? "refused" : personFromForm(form);
    if (code !== undefined && (person === "refused" || typeof person === "object")) {
      if (person === "refused") Object.assign(code, { error: "access_denied", errorDescription: "The person refused" });
      else {
        const grantId = await approve(this.#provider, this.#people, person, asked);
        const granted = { scope: grantedScope(asked.scope), resource: asked.resource };
        Object.assign(code, { accountId: person.sub, grantId, authTime: Math.floor(Date.now() / 1000), ...granted });
      }
      await code.save();
      const [title, said] =
        person === "refused" ? ["Refused", "was not signed in"] : ["Signed in", `is signed in as ${person.sub}`];
      return this.#show(response, 200, messagePage(title ?? "", `The program ${said}. You can close this page.`));
    }
    const isMissing = code === undefined && form !== undefined;
    const page = signInPage({
      title: "Sign in a program",
      explanation: `Signs in the program that shows the code below${code === undefined ? "" : `, which asks for: ${grantedScope(asked.scope)}`}. Go on only if you started it yourself.`,
      action: "/device",
      userCode: `${typed.slice(0, 4)}-${typed.slice(4)}`,
      refusal: "Refuse",
      problem:
        typeof person === "string" && person !== "refused"
          ? person
          : isMissing
            ? "No program is waiting with this code: it may have expired, or been used."
            : undefined,
    });
    this.#show(response, 200, page);
  }

  #show(response: ServerResponse, status: number, page: string): void {
    response.writeHead(status, pageHeaders(this.#origin)).end(page);
  }
}
