// The proof by which a client comes back as itself: signed, bound to this session, this start of its process, the client, the
// person and the role. It is no authentication: a token is still needed.

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

  /** @param sessionKey The Durable Object's own name: a proof of one session is none in another. */
  constructor(secret: string, sessionKey: string) {
    this.#material = `resume\0${sessionKey}\0${secret}`;
  }

  /** Made when it is first needed: for a new session that is while its process starts. */
  get #key(): Promise<CryptoKey> {
    const material = new TextEncoder().encode(this.#material);
    const algorithm = { name: "HMAC", hash: "SHA-256" };
    this.#imported ??= crypto.subtle.importKey("raw", material, algorithm, false, ["sign", "verify"]);
    return this.#imported;
  }

  /** The id of a client without a proof: all connections of one life have the same, whichever of them is greeted. */
  newId(life: string, subject: string, role: string): string {
    const whose = JSON.stringify(["client", life, subject, role]);
    return createHmac("sha256", this.#material).update(whose).digest("hex").slice(0, 16);
  }

  /** Says of a session's clients whether they are one person's, and not whose (K4a). */
  personId(subject: string): string {
    const whose = JSON.stringify(["person", subject]);
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

  /** @returns The claim, or undefined where this signer did not make it. */
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
