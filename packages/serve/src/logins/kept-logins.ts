// What the issuer remembers over a restart, so that logins go on: who signed in, and the refresh tokens, by their hashes. One file, which
// is small and is written at each login and renewal.
import { createHash } from "node:crypto";
import type { Adapter, AdapterConstructor, AdapterPayload } from "oidc-provider";
import { MemoryAdapter, remember } from "../../../local/src/issuer/memory-adapter.ts";
import type { Person } from "../../../local/src/issuer/tokens.ts";
import { readJson, writeJson } from "../base/state.ts";

const KEPT = ["Grant", "RefreshToken"] as const;
type Kind = (typeof KEPT)[number];
type Entries = Map<string, AdapterPayload>;
type Kept = Readonly<Partial<Record<Kind | "people", readonly (readonly [string, never])[]>>>;

const isKept = (kind: string): kind is Kind => (KEPT as readonly string[]).includes(kind);
const hashOf = (id: string): string => createHash("sha256").update(id).digest("base64url");

export class KeptLogins {
  readonly #file: string;
  readonly #entries: Readonly<Record<Kind, Entries>>;
  /** By grant. */
  readonly people: Map<string, Person>;
  /** For the issuer. */
  readonly adapter: AdapterConstructor;

  constructor(file: string) {
    this.#file = file;
    const { Grant, RefreshToken, people } = readJson<Kept>(file) ?? {};
    this.#entries = { Grant: new Map(Grant), RefreshToken: new Map(RefreshToken) };
    this.people = new Map(people);
    const adapterOf = (kind: Kind): Adapter => this.#adapterOf(kind);
    this.adapter = class extends MemoryAdapter {
      constructor(kind: string) {
        super();
        if (isKept(kind)) Object.assign(this, adapterOf(kind));
      }
    };
  }

  #adapterOf(kind: Kind): Adapter {
    const entries = this.#entries[kind];
    const change = async (act: () => void): Promise<void> => {
      act();
      this.#save();
    };
    return {
      // The payload has the token itself as `jti`, which the caller of find() knows.
      upsert: (id, { jti: _, ...payload }) => change(() => remember(entries, hashOf(id), payload)),
      find: async (id) => {
        const payload = entries.get(hashOf(id));
        return payload && { ...payload, jti: id };
      },
      findByUid: async () => undefined,
      findByUserCode: async () => undefined,
      consume: (id) =>
        change(() => {
          const payload = entries.get(hashOf(id));
          if (payload !== undefined) payload.consumed = Math.floor(Date.now() / 1000);
        }),
      destroy: (id) => change(() => void entries.delete(hashOf(id))),
      revokeByGrantId: (grantId) =>
        change(() => {
          for (const [id, payload] of entries) if (payload.grantId === grantId) entries.delete(id);
        }),
    };
  }

  #save(): void {
    const now = Date.now() / 1000;
    const { Grant, RefreshToken } = this.#entries;
    for (const entries of [Grant, RefreshToken])
      for (const [id, { exp = now + 1 }] of entries) if (exp <= now) entries.delete(id);
    for (const grant of this.people.keys()) if (!Grant.has(hashOf(grant))) this.people.delete(grant);
    writeJson(this.#file, { Grant: [...Grant], RefreshToken: [...RefreshToken], people: [...this.people] });
  }
}
