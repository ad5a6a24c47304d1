// The texts that a tenant's object keeps of each of its people's pages: a layout, and settings; one JSON text each. The page alone
// knows their content.

/** So many people of one tenant; beyond, the text goes that was kept longest ago. */
export const MAX_LAYOUTS = 10_000;

export type KeptLayout = {
  /** Counts what was kept, so that a page sees that another device was faster. 0: nothing was ever kept. */
  readonly revision: number;
  /** JSON; undefined: nothing is kept. */
  readonly text: string | undefined;
};

const NOTHING: KeptLayout = { revision: 0, text: undefined };

/** Also the name of its table. */
export type KeptKind = "layouts" | "preferences";

export class LayoutStore {
  readonly #sql: SqlStorage;
  readonly #table: KeptKind;
  #hasTable: boolean | undefined;

  constructor(storage: DurableObjectStorage, kind: KeptKind = "layouts") {
    this.#sql = storage.sql;
    this.#table = kind;
  }

  read(user: string): KeptLayout {
    if (!this.#isUsed()) return NOTHING;
    const rows = this.#sql.exec<{ revision: number; text: string }>(
      `SELECT revision, text FROM ${this.#table} WHERE user = ?`,
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
      `INSERT OR REPLACE INTO ${this.#table} (user, revision, text, at_ms) VALUES (?, ?, ?, ?)`,
      user,
      revision,
      text,
      nowMs,
    );
    return { isKept: true, kept: { revision, text } };
  }

  #makeRoom(): void {
    const [row] = this.#sql.exec<{ count: number }>(`SELECT count(*) AS count FROM ${this.#table}`).toArray();
    if ((row?.count ?? 0) < MAX_LAYOUTS) return;
    const oldest = `SELECT user FROM ${this.#table} ORDER BY at_ms LIMIT 1`;
    this.#sql.exec(`DELETE FROM ${this.#table} WHERE user = (${oldest})`);
  }

  /** Made with the first text: an object that was only asked is not kept. */
  #makeTable(): void {
    if (this.#isUsed()) return;
    this.#sql.exec(
      `CREATE TABLE ${this.#table} (user TEXT PRIMARY KEY, revision INTEGER NOT NULL, text TEXT NOT NULL, at_ms INTEGER NOT NULL)`,
    );
    this.#hasTable = true;
  }

  #isUsed(): boolean {
    const found = "SELECT 1 FROM sqlite_master WHERE name = ?";
    this.#hasTable ??= this.#sql.exec(found, this.#table).toArray().length > 0;
    return this.#hasTable;
  }
}
