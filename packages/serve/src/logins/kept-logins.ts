// What the issuer remembers over a restart, so that logins go on: who signed in, and the refresh tokens, by their hashes. One file, which
// is small and is written at each login and renewal.
import { createHash } from "node:crypto";
import type { AdapterFactory, AdapterPayload } from "oidc-provider";
import { type Entries, MemoryAdapter } from "../../../local/src/issuer/memory-adapter.ts";
import type { Person } from "../../../local/src/issuer/tokens.ts";
import { readJson, writeJson } from "../base/state.ts";

type Kept = Readonly<Record<"Grant" | "RefreshToken" | "people", readonly (readonly [string, never])[]>>;

const hashOf = (id: string): string => createHash("sha256").update(id).digest("base64url");

export class KeptLogins {
  /** By grant. */
  readonly people: Map<string, Person>;
  /** For the issuer. */
  readonly adapter: AdapterFactory;

  constructor(file: string) {
    const kept = readJson<Kept>(file);
    const all: Readonly<Record<string, Entries>> = {
      Grant: new Map(kept?.Grant),
      RefreshToken: new Map(kept?.RefreshToken),
    };
    this.people = new Map(kept?.people);
    const save = (): void => {
      const now = Date.now() / 1000;
      for (const entries of Object.values(all))
        for (const [id, { exp = now + 1 }] of entries) if (exp <= now) entries.delete(id);
      for (const grant of this.people.keys()) if (!all.Grant?.has(hashOf(grant))) this.people.delete(grant);
      const lists = Object.entries(all).map(([kind, entries]) => [kind, [...entries]]);
      writeJson(file, { ...Object.fromEntries(lists), people: [...this.people] });
    };
    // What is short is not kept: it begins anew with each server.
    this.adapter = (kind) => {
      const entries = all[kind];
      return entries === undefined ? new MemoryAdapter() : new KeptEntries(entries, save);
    };
  }
}

class KeptEntries extends MemoryAdapter {
  constructor(entries: Entries, save: () => void) {
    super();
    this.entries = entries;
    this.changed = save;
  }

  protected override keyOf(id: string): string {
    return hashOf(id);
  }

  /** The payload has the token itself as `jti`, which the caller of find() knows. */
  override upsert(id: string, { jti: _, ...payload }: AdapterPayload): Promise<void> {
    return super.upsert(id, payload);
  }

  override async find(id: string): Promise<AdapterPayload | undefined> {
    const payload = await super.find(id);
    return payload && { ...payload, jti: id };
  }
}
