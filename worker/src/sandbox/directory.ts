// The sessions of a sandbox: one Durable Object for each sandbox, since a session's own object can't be listed.

import { DurableObject } from "cloudflare:workers";

/** How long it is remembered where in the list a session stood. */
const REMOVED_KEEP_MS = 3_600_000;
/** So long a new session waits for others, to be stored with them. It is listed meanwhile. */
const GATHER_MS = 20;
/** Behind every time of a session. */
const LATEST = "9999";

/** A directory's name is the sandbox's key. */
export interface DirectoryEnv {
  readonly DIRECTORY: DurableObjectNamespace<SandboxDirectory>;
}

/** A session of the sandbox API: its execs share a directory and an environment (V3). */
export type ExecSession = {
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
};

/** With the name of the folder that has what its last exec left of them. */
type KeptExecSession = { readonly session: ExecSession; readonly state: string };

const EXEC_SESSION = "exec:";
const MAX_EXEC_SESSIONS = 256;

export class SandboxDirectory extends DurableObject {
  #hasTable: boolean | undefined;
  readonly #added = new Map<string, string>();
  #adding: Promise<void> | undefined;

  /** Resolves once it is stored. */
  add(name: string, createdAt: string): Promise<void> {
    this.#added.set(name, createdAt);
    this.#adding ??= new Promise((resolve) => {
      setTimeout(() => {
        this.#adding = undefined;
        this.#storeAdded();
        resolve();
      }, GATHER_MS);
    });
    return this.#adding;
  }

  /** To be called before anything is read or removed. */
  #storeAdded(): void {
    if (this.#added.size === 0) return;
    const { sql } = this.ctx.storage;
    // Made with the first session: an object that was only asked is not kept.
    if (!this.#isUsed()) {
      sql.exec("CREATE TABLE sessions (name TEXT PRIMARY KEY, created_at TEXT NOT NULL)");
      this.#hasTable = true;
    }
    for (const [name, createdAt] of this.#added) {
      sql.exec("INSERT OR REPLACE INTO sessions (name, created_at) VALUES (?, ?)", name, createdAt);
    }
    this.#added.clear();
  }

  remove(name: string): void {
    this.#storeAdded();
    if (!this.#isUsed()) return;
    const { sql } = this.ctx.storage;
    // A caller that has just read a page that ends with it can still go on after it.
    sql.exec(
      "CREATE TABLE IF NOT EXISTS removed (name TEXT PRIMARY KEY, created_at TEXT NOT NULL, removed_ms INTEGER)",
    );
    sql.exec("DELETE FROM removed WHERE removed_ms < ?", Date.now() - REMOVED_KEEP_MS);
    const remembered = "INSERT OR REPLACE INTO removed SELECT name, created_at, ? FROM sessions WHERE name = ?";
    sql.exec(remembered, Date.now(), name);
    sql.exec("DELETE FROM sessions WHERE name = ?", name);
  }

  /** Newest first, from behind the session `after`. @returns undefined where nothing is known of that. */
  page(limit: number, after?: string): { readonly names: string[]; readonly next?: string } | undefined {
    this.#storeAdded();
    if (!this.#isUsed()) return after === undefined ? { names: [] } : undefined;
    const place = after === undefined ? { name: "", created_at: LATEST } : this.#placeOf(after);
    if (place === undefined) return undefined;
    const rows = this.ctx.storage.sql
      .exec<{ name: string }>(
        `SELECT name FROM sessions WHERE created_at < ?1 OR (created_at = ?1 AND name > ?2)
         ORDER BY created_at DESC, name LIMIT ?3`,
        place.created_at,
        place.name,
        limit + 1,
      )
      .toArray();
    const names = rows.slice(0, limit).map((row) => row.name);
    const last = names.at(-1);
    return rows.length > limit && last !== undefined ? { names, next: last } : { names };
  }

  #placeOf(name: string): { name: string; created_at: string } | undefined {
    const { sql } = this.ctx.storage;
    const isThere = sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'removed'").toArray().length > 0;
    for (const table of isThere ? ["sessions", "removed"] : ["sessions"]) {
      const [row] = sql
        .exec<{ name: string; created_at: string }>(`SELECT name, created_at FROM ${table} WHERE name = ?`, name)
        .toArray();
      if (row !== undefined) return row;
    }
    return undefined;
  }

  /** Newest first. */
  list(): string[] {
    this.#storeAdded();
    if (!this.#isUsed()) return [];
    const rows = this.ctx.storage.sql.exec<{ name: string }>(
      "SELECT name FROM sessions ORDER BY created_at DESC, name",
    );
    return rows.toArray().map((row) => row.name);
  }

  /** An earlier one of this id stays. @returns Why it is not there as it is wished, if so. */
  addExecSession(id: string, session: ExecSession): "other" | "full" | undefined {
    const { kv } = this.ctx.storage;
    const earlier = this.execSession(id)?.session;
    if (earlier !== undefined) return JSON.stringify(earlier) === JSON.stringify(session) ? undefined : "other";
    if ([...kv.list({ prefix: EXEC_SESSION })].length >= MAX_EXEC_SESSIONS) return "full";
    kv.put(EXEC_SESSION + id, { session, state: crypto.randomUUID() });
    return undefined;
  }

  execSession(id: string): KeptExecSession | undefined {
    return this.ctx.storage.kv.get<KeptExecSession>(EXEC_SESSION + id);
  }

  /** @param id Absent: all of them. @returns The names of the folders that they had. */
  removeExecSessions(id?: string): string[] {
    const { kv } = this.ctx.storage;
    const all = [...kv.list<KeptExecSession>({ prefix: EXEC_SESSION })];
    const removed = all.filter(([key]) => id === undefined || key === EXEC_SESSION + id);
    for (const [key] of removed) kv.delete(key);
    return removed.map(([, { state }]) => state);
  }

  #isUsed(): boolean {
    const found = "SELECT 1 FROM sqlite_master WHERE name = 'sessions'";
    this.#hasTable ??= this.ctx.storage.sql.exec(found).toArray().length > 0;
    return this.#hasTable;
  }
}
