// The layouts that a tenant's object keeps of each of its people's pages: one JSON text each. The page alone knows its content.

/** So many people of one tenant; beyond, the layout goes that was kept longest ago. */
export const MAX_LAYOUTS = 10_000;

export type KeptLayout = {
  /** Counts what was kept, so that a page sees that another device was faster. 0: nothing was ever kept. */
  readonly revision: number;
  /** JSON; undefined: nothing is kept. */
  readonly text: string | undefined;
};

const NOTHING: KeptLayout = { revision: 0, text: undefined };

export class LayoutStore {
  readonly #sql: SqlStorage;
  #hasTable: boolean | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#sql = storage.sql;
  }

  read(user: string): KeptLayout {
    if (!this.#isUsed()) return NOTHING;
    const rows = this.#sql.exec<{ revision: number; text: string }>(
      "SELECT revision, text FROM layouts WHERE user = ?",
      user,
    );
    return rows.toArray()[0] ?? NOTHING;
  }

  /**
   * Keeps a text in place of what is there.
   * @param base The revision that it was made from; undefined: any revision.
   * @returns What is kept now: another revision than `base` + 1, and another's text, where that was not what is there.
   */
  keep(user: string, text: string, base: number | undefined, nowMs: number): { isKept: boolean; kept: KeptLayout } {
    const before = this.read(user);
    if (base !== undefined && base !== before.revision) return { isKept: false, kept: before };
    this.#makeTable();
    if (before.revision === 0) this.#makeRoom();
    const revision = before.revision + 1;
    this.#sql.exec(
      "INSERT OR REPLACE INTO layouts (user, revision, text, at_ms) VALUES (?, ?, ?, ?)",
      user,
      revision,
      text,
      nowMs,
    );
    return { isKept: true, kept: { revision, text } };
  }

  #makeRoom(): void {
    const [row] = this.#sql.exec<{ count: number }>("SELECT count(*) AS count FROM layouts").toArray();
    if ((row?.count ?? 0) < MAX_LAYOUTS) return;
    this.#sql.exec("DELETE FROM layouts WHERE user = (SELECT user FROM layouts ORDER BY at_ms LIMIT 1)");
  }

  /** Made with the first layout: an object that was only asked is not kept. */
  #makeTable(): void {
    if (this.#isUsed()) return;
    this.#sql.exec(
      "CREATE TABLE layouts (user TEXT PRIMARY KEY, revision INTEGER NOT NULL, text TEXT NOT NULL, at_ms INTEGER NOT NULL)",
    );
    this.#hasTable = true;
  }

  #isUsed(): boolean {
    const found = "SELECT 1 FROM sqlite_master WHERE name = 'layouts'";
    this.#hasTable ??= this.#sql.exec(found).toArray().length > 0;
    return this.#hasTable;
  }
}
