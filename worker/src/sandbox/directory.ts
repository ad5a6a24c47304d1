// Which sessions a sandbox has: one Durable Object for each sandbox, since a session's own object can't be listed.

import { DurableObject } from "cloudflare:workers";
import type { Env } from "../env.ts";

export class SandboxDirectory extends DurableObject<Env> {
  #hasTable: boolean | undefined;

  add(name: string, createdAt: string): void {
    // Made with the first session: an object that was only asked is not kept.
    if (!this.#isUsed()) {
      this.ctx.storage.sql.exec("CREATE TABLE sessions (name TEXT PRIMARY KEY, created_at TEXT NOT NULL)");
      this.#hasTable = true;
    }
    this.ctx.storage.sql.exec("INSERT OR REPLACE INTO sessions (name, created_at) VALUES (?, ?)", name, createdAt);
  }

  remove(name: string): void {
    if (this.#isUsed()) this.ctx.storage.sql.exec("DELETE FROM sessions WHERE name = ?", name);
  }

  /** Newest first. */
  list(): string[] {
    if (!this.#isUsed()) return [];
    const rows = this.ctx.storage.sql.exec<{ name: string }>(
      "SELECT name FROM sessions ORDER BY created_at DESC, name",
    );
    return rows.toArray().map((row) => row.name);
  }

  #isUsed(): boolean {
    const found = "SELECT 1 FROM sqlite_master WHERE name = 'sessions'";
    this.#hasTable ??= this.ctx.storage.sql.exec(found).toArray().length > 0;
    return this.#hasTable;
  }
}
