// Which sessions a sandbox has: one Durable Object for each sandbox, since a session's own object can't be listed.

import { DurableObject } from "cloudflare:workers";
import type { Env } from "../env.ts";

export class SandboxDirectory extends DurableObject<Env> {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS sessions (name TEXT PRIMARY KEY, created_at TEXT NOT NULL)");
  }

  add(name: string, createdAt: string): void {
    this.ctx.storage.sql.exec("INSERT OR REPLACE INTO sessions (name, created_at) VALUES (?, ?)", name, createdAt);
  }

  remove(name: string): void {
    this.ctx.storage.sql.exec("DELETE FROM sessions WHERE name = ?", name);
  }

  /** Newest first. */
  list(): string[] {
    const rows = this.ctx.storage.sql.exec<{ name: string }>(
      "SELECT name FROM sessions ORDER BY created_at DESC, name",
    );
    return rows.toArray().map((row) => row.name);
  }
}
