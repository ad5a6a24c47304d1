// Long input of one record, stored once and apart from the records, as the bytes that came. Among the records' keys it would be
// slow: SQLite reads a neighbour's whole value to compare its key with a new one, and does so several times for each.

/** Content from here on stands apart: no key, nor a line that is typed, is as long. */
export const LONG_BYTES = 16 * 1024;

/** Typed input, by the number of its record. */
export class LongContent {
  readonly #sql: SqlStorage;
  #hasTable = false;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Stored with the other writes of this turn. Messages that are sent after it wait until it is on disk. */
  add(seq: number, bytes: Uint8Array): void {
    if (!this.#hasTable) {
      this.#sql.exec("CREATE TABLE IF NOT EXISTS audit_content (seq INTEGER PRIMARY KEY, bytes BLOB NOT NULL)");
      this.#hasTable = true;
    }
    this.#sql.exec("INSERT INTO audit_content VALUES (?, ?)", seq, bytes);
  }

  /** @throws {Error} If the record has none here. */
  read(seq: number): Uint8Array {
    const { bytes } = this.#sql
      .exec<{ bytes: ArrayBuffer }>("SELECT bytes FROM audit_content WHERE seq = ?", seq)
      .one();
    return new Uint8Array(bytes);
  }

  /** @param seq A record that has its content here. */
  delete(seq: number): void {
    this.#sql.exec("DELETE FROM audit_content WHERE seq = ?", seq);
  }
}
