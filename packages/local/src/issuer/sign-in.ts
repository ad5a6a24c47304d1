// The steps of a person's sign-in at the issuer: whether the page or a program may go on. Who they are is the admission's matter.
import type { IncomingMessage, ServerResponse } from "node:http";
import type Provider from "oidc-provider";
import { errors } from "oidc-provider";
import type { Admission, Decision, Form } from "./admission.ts";
import { messagePage, pageHeaders, signInPage } from "./pages.ts";
import { approve, grantedScope, type People } from "./provider.ts";

/** Parameters of a request, as oidc-provider keeps them. */
type Asked = Readonly<Partial<Record<"client_id" | "scope" | "resource" | "login_hint", string>>>;

export class SignIn {
  readonly #provider: Provider;
  readonly #people: People;
  readonly #origin: string;
  readonly #admission: Admission;

  /** @param origin Of the page that people sign in to. */
  constructor(provider: Provider, people: People, origin: string, admission: Admission) {
    this.#provider = provider;
    this.#people = people;
    this.#origin = origin;
    this.#admission = admission;
  }

  async #decisionOf(form: Form, request: IncomingMessage): Promise<Decision> {
    if (form === undefined) return { kind: "undecided" };
    return form.has("refuse") ? { kind: "refused" } : this.#admission.decide(form, request);
  }

  /** The page of a browser's sign-in; with a form, its effect. */
  async browser(request: IncomingMessage, response: ServerResponse, form: Form): Promise<void> {
    const details = await this.#provider.interactionDetails(request, response).catch((error: unknown) => {
      if (error instanceof errors.SessionNotFound) return undefined;
      throw error;
    });
    if (details === undefined) {
      const message = "This login has ended, or was begun elsewhere. Go back to the page and log in again.";
      return this.#show(response, 400, messagePage("Cannot log in", message));
    }
    const asked = details.params as Asked;
    const known = form === undefined ? this.#admission.known(request) : undefined;
    const decision: Decision =
      known === undefined ? await this.#decisionOf(form, request) : { kind: "approved", person: known };
    if (decision.kind === "refused") {
      return this.#provider.interactionFinished(request, response, { error: "access_denied" });
    }
    if (decision.kind === "approved") {
      const grantId = await approve(this.#provider, this.#people, decision.person, asked);
      const result = { login: { accountId: decision.person.sub }, consent: { grantId } };
      return this.#provider.interactionFinished(request, response, result);
    }
    const page = signInPage({
      title: "Log in to sbx-stdio",
      explanation: `The page at ${this.#origin} asks for ${wordsOf(grantedScope(asked.scope))}`,
      action: `/interaction/${details.uid}`,
      ...this.#admission.fields(asked.login_hint, request),
      refusal: "Cancel",
      problem: decision.problem,
    });
    this.#show(response, decision.status ?? 200, page);
  }

  /** The page on which a person lets in a program that shows a code; with a form, its effect. */
  async device(request: IncomingMessage, response: ServerResponse, linked: string, form: Form): Promise<void> {
    const typed = (form?.get("user_code") ?? linked).toUpperCase().replace(/[^A-Z]/g, "");
    const found = await this.#provider.DeviceCode.findByUserCode(typed);
    const code = found?.accountId === undefined && found?.error === undefined ? found : undefined;
    const asked = (code?.params ?? {}) as Asked;
    // Only for a program that waits: a key is good for one sign-in.
    const decision = await this.#decisionOf(code && form, request);
    if (code === undefined || decision.kind === "undecided") {
      const missing = "No program is waiting with this code: it may have expired, or been used.";
      const { problem, status = 200 } = decision.kind === "undecided" ? decision : {};
      const asks = code === undefined ? "" : ` It asks for ${wordsOf(grantedScope(asked.scope))}`;
      const page = signInPage({
        title: "Log in a program",
        explanation: `Logs in the program that shows the code below.${asks} Go on only if you started it yourself.`,
        action: "/device",
        ...this.#admission.fields(undefined, request),
        userCode: typed === "" ? "" : `${typed.slice(0, 4)}-${typed.slice(4)}`,
        refusal: "Refuse",
        problem: code === undefined && form !== undefined ? missing : problem,
      });
      return this.#show(response, status, page);
    }
    if (decision.kind === "refused") {
      await Object.assign(code, { error: "access_denied", errorDescription: "The person refused" }).save();
      return this.#show(
        response,
        200,
        messagePage("Refused", "The program was not logged in. You can close this page."),
      );
    }
    const { person } = decision;
    const grantId = await approve(this.#provider, this.#people, person, asked);
    const granted = {
      accountId: person.sub,
      grantId,
      scope: grantedScope(asked.scope, person),
      resource: asked.resource,
    };
    await Object.assign(code, granted, { authTime: Math.floor(Date.now() / 1000) }).save();
    const message = `The program is logged in as ${person.sub}. You can close this page.`;
    this.#show(response, 200, messagePage("Logged in", message));
  }

  #show(response: ServerResponse, status: number, page: string): void {
    response.writeHead(status, pageHeaders(this.#origin)).end(page);
  }
}

const FACTS: readonly (readonly [scope: string, words: string])[] = [
  ["profile", "your name"],
  ["email", "your mail address"],
];
const RIGHTS: readonly (readonly [scope: string, words: string])[] = [
  ["sandbox:connect", "open your sessions"],
  ["sandbox:exec", "start new ones"],
  ["sandbox:admin", "administer them"],
  ["offline_access", "keep you logged in"],
];

/** What scopes mean to a person, as sentences. */
export function wordsOf(scopes: string): string {
  const asked = scopes.split(" ");
  const list = new Intl.ListFormat("en-GB");
  const [facts, rights] = [FACTS, RIGHTS].map((rows) =>
    list.format(rows.filter(([scope]) => asked.includes(scope)).map(([, words]) => words)),
  );
  return `${facts || "your user name"}.${rights ? ` It may then ${rights}.` : ""}`;
}
