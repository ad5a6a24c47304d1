// Resume proofs of clients that attach to the bridge directly, without a session object; and names that are new.

import type { AttachQuery, ProcessSession } from "sandbox-stdio/core";

const NAME_LENGTH = 20;

/** @returns A text that only this bridge makes of this process and this client. */
export function makeProof(incarnation: string, client: string, secret: string): string {
  const claim = `${incarnation}.${client}`;
  // Not by node:crypto, which takes 2 MB of memory to import.
  return `${claim}.${new Bun.CryptoHasher("sha256", secret).update(claim).digest("base64url")}`;
}

/** @returns undefined if this bridge has not made it. */
export function readProof(proof: string, secret: string): { incarnation: string; client: string } | undefined {
  const [incarnation, client] = proof.split(".");
  if (incarnation === undefined || client === undefined) return undefined;
  return isSameText(proof, makeProof(incarnation, client, secret)) ? { incarnation, client } : undefined;
}

/** All connections of one life of a client have the same, whichever of them is greeted; none after it has left. */
export function newId({ facts, gone }: ProcessSession, { attempt, role }: AttachQuery, secret: string): string {
  if (attempt === undefined) return freshName();
  const whose = `${facts.incarnation} ${role} ${attempt.life}`;
  const id = new Bun.CryptoHasher("sha256", secret).update(whose).digest("hex").slice(0, NAME_LENGTH);
  return gone.has(id) ? freshName() : id;
}

export function freshName(): string {
  return crypto.randomUUID().replaceAll("-", "").slice(0, NAME_LENGTH);
}

/** Compares in a time that says nothing of where two texts differ. */
export function isSameText(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && crypto.timingSafeEqual(a, b);
}
