// The gateway's data in the session's Durable Object: the messages of each stream, input on its way to the server, and how far
// its output has been read. All of it goes with the session.

import type { EventPlace, Journal, JournalEvent, JournalStream, KeptEvent, LongLineState } from "@sbx/mcp/gateway";
import { cloneBytes } from "sandbox-stdio/core";

/** How far the server's output was read: in the session's log, and of its standard output alone. */
export type ReadPlace = { readonly logNext: number; readonly end: number; readonly last: EventPlace };

type Head = ReadPlace & {
  readonly incarnation: string;
  readonly binding: string;
  /** The revision that its client asked for. */
  readonly version: string;
  readonly isOver: boolean;
  /** Bytes of input that were taken in. */
  readonly inputEnd: number;
  /** Whether a client has shown that it knows the session: its `initialize` was answered, or it has called again. */
  readonly isTaken?: boolean;
  /** What is kept of an unfinished line that is too long. */
  readonly long?: LongLineState | undefined;
};

/** A value of the store has at most 2 MB. */
const PIECE_BYTES = 1_000_000;
/** The most bytes that one write may have. */
const INPUT_BYTES = 48 * 1024;
const TABLES = [
  "mcp_events (offset INTEGER, part INTEGER, stream INTEGER, size INTEGER, delivered INTEGER, bytes BLOB, PRIMARY KEY (offset, part))",
  "mcp_streams (stream INTEGER PRIMARY KEY, pending TEXT)",
  "mcp_partial (piece INTEGER PRIMARY KEY, bytes BLOB)",
  "mcp_input (at INTEGER PRIMARY KEY, bytes BLOB)",
];

/** Forgets all of it. */
export function dropGateway(storage: DurableObjectStorage): void {
  if (!storage.kv.delete("mcp")) return;
  // A table can't be dropped in a transaction that has read of it.
  for (const table of TABLES) storage.sql.exec(`DELETE FROM ${table.split(" ")[0]}`);
}

export class GatewayStore implements Journal {
  readonly #storage: DurableObjectStorage;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** Undefined where the session is none of an MCP client's, or was forgotten. */
  get head(): Head | undefined {
    return this.#storage.kv.get<Head>("mcp");
  }

  begin(incarnation: string, binding: string, version: string): void {
    this.#storage.transactionSync(() => {
      dropGateway(this.#storage);
      for (const table of TABLES) this.#storage.sql.exec(`CREATE TABLE IF NOT EXISTS ${table}`);
      const last = { stream: 0, offset: 0 };
      this.#storage.kv.put<Head>("mcp", {
        incarnation,
        binding,
        version,
        isOver: false,
        isTaken: false,
        inputEnd: 0,
        logNext: 0,
        end: 0,
        last,
      });
    });
  }

  save(change: Partial<Head>): void {
    const { head } = this;
    if (head !== undefined) this.#storage.kv.put<Head>("mcp", { ...head, ...change });
  }

  /** All of it is stored, or nothing. */
  together<T>(work: () => T): T {
    return this.#storage.transactionSync(work);
  }

  // ---- Messages ----------------------------------------------------------------------------------------------------

  streams(): readonly JournalStream[] {
    const rows = this.#rows<{ stream: number; pending: string }>(
      "SELECT stream, pending FROM mcp_streams ORDER BY stream",
    );
    return rows.map(({ stream, pending }) => ({ stream, pending: JSON.parse(pending) as JournalStream["pending"] }));
  }

  kept(): readonly KeptEvent[] {
    const rows = this.#rows<{ stream: number; offset: number; size: number; delivered: number }>(
      "SELECT stream, offset, size, delivered FROM mcp_events WHERE part = 0 ORDER BY offset",
    );
    return rows.map(({ stream, offset, size, delivered }) => ({
      stream,
      offset,
      bytes: size,
      isDelivered: delivered === 1,
    }));
  }

  next(stream: number, after: number): JournalEvent | undefined {
    if (this.head === undefined) return undefined;
    const [first] = this.#rows<{ offset: number }>(
      "SELECT offset FROM mcp_events WHERE stream = ? AND offset > ? ORDER BY offset LIMIT 1",
      stream,
      after,
    );
    if (first === undefined) return undefined;
    const decoder = new TextDecoder();
    const parts = this.#rows<{ bytes: ArrayBuffer }>(
      "SELECT bytes FROM mcp_events WHERE offset = ? ORDER BY part",
      first.offset,
    );
    const text = parts.map(({ bytes }) => decoder.decode(bytes, { stream: true })).join("") + decoder.decode();
    return { stream, offset: first.offset, text };
  }

  add({ stream, offset, text }: JournalEvent): void {
    const bytes = new TextEncoder().encode(text);
    for (let part = 0; part * PIECE_BYTES < bytes.length; part += 1) {
      const piece = bytes.slice(part * PIECE_BYTES, (part + 1) * PIECE_BYTES);
      const insert = "INSERT INTO mcp_events (offset, part, stream, size, delivered, bytes) VALUES (?, ?, ?, ?, 0, ?)";
      this.#storage.sql.exec(insert, offset, part, stream, text.length, piece);
    }
  }

  delivered(offset: number): void {
    if (this.head !== undefined)
      this.#storage.sql.exec("UPDATE mcp_events SET delivered = 1 WHERE offset = ? AND part = 0", offset);
  }

  drop(offset: number): void {
    if (this.head !== undefined) this.#storage.sql.exec("DELETE FROM mcp_events WHERE offset = ?", offset);
  }

  saveStream({ stream, pending }: JournalStream): void {
    const upsert = "INSERT OR REPLACE INTO mcp_streams (stream, pending) VALUES (?, ?)";
    this.#storage.sql.exec(upsert, stream, JSON.stringify(pending));
  }

  dropStream(stream: number): void {
    if (this.head !== undefined) this.#storage.sql.exec("DELETE FROM mcp_streams WHERE stream = ?", stream);
  }

  // ---- The server's output and input -------------------------------------------------------------------------------

  partial(): readonly Uint8Array[] {
    const rows = this.#rows<{ bytes: ArrayBuffer }>("SELECT bytes FROM mcp_partial ORDER BY piece");
    return rows.map(({ bytes }) => new Uint8Array(bytes));
  }

  /** @param known How many of the pieces are stored. */
  savePartial(pieces: readonly Uint8Array[], known: number): void {
    if (known > pieces.length || (known > 0 && pieces.length === 0)) throw new RangeError("Cannot store fewer pieces");
    for (const [i, piece] of pieces.entries()) {
      if (i < known) continue;
      this.#storage.sql.exec("INSERT INTO mcp_partial (piece, bytes) VALUES (?, ?)", i, cloneBytes(piece));
    }
  }

  clearPartial(): void {
    this.#storage.sql.exec("DELETE FROM mcp_partial");
  }

  /** Input for the server, which will be written once. @returns How many bytes wait. */
  addInput(line: string): number {
    const bytes = new TextEncoder().encode(`${line}\n`);
    const inputEnd = this.head?.inputEnd ?? 0;
    for (let from = 0; from < bytes.length; from += INPUT_BYTES) {
      const piece = bytes.slice(from, from + INPUT_BYTES);
      this.#storage.sql.exec("INSERT INTO mcp_input (at, bytes) VALUES (?, ?)", inputEnd + from, piece);
    }
    this.save({ inputEnd: inputEnd + bytes.length });
    const [first] = this.#rows<{ at: number }>("SELECT at FROM mcp_input ORDER BY at LIMIT 1");
    return inputEnd + bytes.length - (first?.at ?? inputEnd);
  }

  nextInput(): { readonly at: number; readonly bytes: Uint8Array } | undefined {
    if (this.head === undefined) return undefined;
    const [first] = this.#rows<{ at: number; bytes: ArrayBuffer }>(
      "SELECT at, bytes FROM mcp_input ORDER BY at LIMIT 1",
    );
    return first && { at: first.at, bytes: new Uint8Array(first.bytes) };
  }

  dropInput(at: number): void {
    if (this.head !== undefined) this.#storage.sql.exec("DELETE FROM mcp_input WHERE at = ?", at);
  }

  #rows<T extends Record<string, SqlStorageValue>>(query: string, ...values: SqlStorageValue[]): T[] {
    return this.#storage.sql.exec<T>(query, ...values).toArray();
  }
}
