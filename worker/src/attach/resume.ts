// The proof of resume: signed, and bound to the session, the incarnation, the client, the person and the role. It does not
// authenticate: a token is still needed.

import { createHmac } from "node:crypto";
import { fromBase64Url, toBase64Url } from "../base/base64url.ts";
import type { Asker } from "./grant.ts";

export type ResumeClaim = {
  readonly incarnation: string;
  readonly client: string;
  readonly subject: string;
  readonly role: string;
};

export class ResumeSigner {
  readonly #material: string;
  #imported: Promise<CryptoKey> | undefined;

  /** @param sessionKey The Durable Object's name: a proof is valid for one session only. */
  constructor(secret: string, sessionKey: string) {
    this.#material = `resume\0${sessionKey}\0${secret}`;
  }

  /** Imported at first use, which for a new session is while its process starts. */
  get #key(): Promise<CryptoKey> {
    const material = new TextEncoder().encode(this.#material);
    const algorithm = { name: "HMAC", hash: "SHA-256" };
    this.#imported ??= crypto.subtle.importKey("raw", material, algorithm, false, ["sign", "verify"]);
    return this.#imported;
  }

  /** The id of a client without a proof: the same for all connections of one life, whichever is greeted. */
  newId(life: string, subject: string, role: string): string {
    const whose = JSON.stringify(["client", life, subject, role]);
    return createHmac("sha256", this.#material).update(whose).digest("hex").slice(0, 16);
  }

  /** Tells whether two clients of a session are the same person's, without telling whose (K4a). */
  personId(subject: string): string {
    const whose = JSON.stringify(["person", subject]);
    return createHmac("sha256", this.#material).update(whose).digest("hex").slice(0, 16);
  }

  /** Tells whether two clients are windows of the same person, who calls itself the same in both (L11b). */
  loginId({ issuer, subject }: Asker, name: string): string {
    const whose = JSON.stringify(["login", issuer, subject, name]);
    return createHmac("sha256", this.#material).update(whose).digest("hex").slice(0, 16);
  }

  /** The id of the client that a program's writer is (W2). */
  writerId(incarnation: string, { issuer, subject }: Asker, writer: string): string {
    const whose = JSON.stringify(["writer", incarnation, issuer, subject, writer]);
    return createHmac("sha256", this.#material).update(whose).digest("hex").slice(0, 20);
  }

  async make(claim: ResumeClaim): Promise<string> {
    const { incarnation, client, subject, role } = claim;
    const payload = toBase64Url(new TextEncoder().encode(JSON.stringify([incarnation, client, subject, role])));
    const signature = await crypto.subtle.sign("HMAC", await this.#key, new TextEncoder().encode(payload));
    return `${payload}.${toBase64Url(new Uint8Array(signature))}`;
  }

  /** @returns The claim, or undefined if another signer made it. */
  async read(proof: string): Promise<ResumeClaim | undefined> {
    const [payload, signature] = proof.split(".");
    if (payload === undefined || signature === undefined) return undefined;
    const bytes = fromBase64Url(signature);
    const claim = fromBase64Url(payload);
    if (bytes === undefined || claim === undefined) return undefined;
    const isOurs = await crypto.subtle.verify("HMAC", await this.#key, bytes, new TextEncoder().encode(payload));
    if (!isOurs) return undefined;
    const [incarnation, client, subject, role] = JSON.parse(new TextDecoder().decode(claim)) as string[];
    return { incarnation: incarnation ?? "", client: client ?? "", subject: subject ?? "", role: role ?? "" };
  }
}
