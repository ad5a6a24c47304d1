// The audit of one session, or of a tenant, as it is stored: batches of records in SQLite, under keys that sort by their
// number. Appending only; old batches are deleted from the start, and an anchor says where the chain goes on.

import { release } from "sandbox-stdio/core";
import { base64Of } from "../base/base64url.ts";
import { CHAIN_START, type ChainPoint, chained } from "./chain.ts";
import type { AuditEvent, AuditRecord } from "./record.ts";

const BATCH_PREFIX = "audit/batch/";
const INPUT_PREFIX = "audit/input/";
const SECRET_PREFIX = "audit/secret/";
const ANCHOR_KEY = "audit/anchor";
/** A page holds at most about this many characters of records, and at least one record. */
const MAX_PAGE_CHARACTERS = 4 * 1024 * 1024;

/** A new batch begins before the current one reaches this size; the platform stores values of at most twice that. */
const MAX_BATCH_BYTES = 1024 * 1024;
/** The bytes of a record besides its text, give or take: a long command line has room in the other half of a value. */
const RECORD_BYTES = 1024;

/** Between two deletions of old records, at least. */
const MIN_DELETION_MS = 60 * 60_000;

/** Records that were stored together, oldest first. Never empty. */
type Batch = readonly StoredRecord[];

/** Null stands for content in {@link LongContent}. Older records hold base64 as text. */
type StoredRecord = Exclude<AuditRecord, InputRecord> | StoredInput;
type InputRecord = Extract<AuditRecord, { type: "input" }>;
type StoredInput = Omit<InputRecord, "text" | "base64"> & {
  readonly text?: Uint8Array | string | null;
  readonly base64?: Uint8Array | string | null;
};

/** The facts in the newest batch. */
type Newest = {
  readonly head: ChainPoint;
  /** How far the input in it goes, by client: when another batch becomes the newest, a key of the client's own says it. */
  readonly inputEnds: Map<string, number>;
};

export type AuditPage = {
  readonly records: readonly AuditRecord[];
  /** The newest record of all. */
  readonly head: ChainPoint;
  /** The newest record that was deleted for its age; the first one that is left follows from it. */
  readonly anchor: ChainPoint;
};

export class AuditTrail {
  readonly #storage: DurableObjectStorage;
  readonly #long: LongContent;
  /** Read when it is first asked for: a client of a new session does not wait for that. */
  #newestRead: Newest | undefined;
  /** The newest time in the oldest batch, where that is known without a look. */
  #oldestTime: string | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.#long = new LongContent(storage.sql);
  }

  /** The newest record of all. */
  get head(): ChainPoint {
    return this.#newest.head;
  }

  get anchor(): ChainPoint {
    return this.#storage.kv.get<ChainPoint>(ANCHOR_KEY) ?? CHAIN_START;
  }

  /** How far each client's input is stored. */
  storedInput(): [string, number][] {
    const stored = new Map<string, number>();
    for (const [key, offset] of this.#storage.kv.list<number>({ prefix: INPUT_PREFIX })) {
      stored.set(key.slice(INPUT_PREFIX.length), offset);
    }
    for (const [id, offset] of this.#newest.inputEnds) stored.set(id, Math.max(offset, stored.get(id) ?? 0));
    return [...stored];
  }

  /**
   * Stores events as the next records, and with them how far the input of these clients is stored now. Resolves when all
   * of it is on disk. Messages sent meanwhile wait for that only behind long content: hence `put` and not SQL, whose writes hold
   * back everything that the object sends after them. Empties long content as soon as it is given to the storage. No `async`
   * function: its variables would live until all is on disk.
   */
  append(events: readonly AuditEvent[], storedInput: ReadonlyMap<string, number>): Promise<void> {
    const records: AuditRecord[] = [];
    let last = this.head;
    for (const event of events) {
      const record: AuditRecord = chained(last, event);
      records.push(record);
      last = record;
    }
    if (records.length === 0 && storedInput.size === 0) return Promise.resolve();
    const entries: Record<string, unknown> = {};
    const batches = batchesOf(records.map((record) => this.#withoutLong(record)));
    if (records[0]?.seq === 1) this.#oldestTime = batches[0]?.at(-1)?.time;
    for (const batch of batches) entries[batchKey(batch[0].seq)] = batch;
    // The newest batch says it by itself. To find the place of one key more among long values, SQLite reads many of them.
    const inNewest = inputEndsOf(batches.at(-1) ?? []);
    const before = records.length === 0 ? [] : this.#newest.inputEnds;
    for (const [id, offset] of [...before, ...storedInput]) {
      if ((inNewest.get(id) ?? -1) < offset) entries[INPUT_PREFIX + id] = offset;
    }
    const inputEnds = new Map(records.length === 0 ? this.#newest.inputEnds : []);
    for (const [id, offset] of storedInput) if (inNewest.has(id) || inputEnds.has(id)) inputEnds.set(id, offset);
    this.#newestRead = { head: { seq: last.seq, hash: last.hash }, inputEnds };
    // One call, one transaction: an offset is never stored without its bytes.
    const stored = this.#storage.put(entries, { allowUnconfirmed: true }).then(() => this.#storage.sync());
    for (const event of events) {
      const content = contentOf(event);
      if (content !== undefined) release(content);
    }
    return stored;
  }

  /** Stores long content by itself. With the records that follow in this turn, it is one transaction. */
  #withoutLong(record: AuditRecord): StoredRecord {
    const content = contentOf(record);
    if (record.type !== "input" || content === undefined || content.length < LONG_BYTES) return record;
    this.#long.add(record.seq, content);
    return record.text === undefined ? { ...record, base64: null } : { ...record, text: null };
  }

  /** The clients whose input is secret. */
  secretClients(): string[] {
    return [...this.#storage.kv.list({ prefix: SECRET_PREFIX })].map(([key]) => key.slice(SECRET_PREFIX.length));
  }

  /** Outlives this object: input that is sent again after a restart is as secret as it was. */
  noteSecret(id: string, on: boolean): void {
    if (on) void this.#storage.put(SECRET_PREFIX + id, true, { allowUnconfirmed: true });
    else void this.#storage.delete(SECRET_PREFIX + id, { allowUnconfirmed: true });
  }

  /**
   * This client can't come back: how far its input is stored is of no more use. If the newest batch says it, the next life of
   * the object reads it from there again, which does no harm: no other client has its id.
   */
  forgetInput(ids: readonly string[]): void {
    for (const id of ids) this.#newest.inputEnds.delete(id);
    void this.#storage.delete(
      ids.map((id) => INPUT_PREFIX + id),
      { allowUnconfirmed: true },
    );
  }

  /** No client of before comes back. */
  forgetAllInput(): void {
    if (this.head.seq === 0) return; // There was none.
    this.#newest.inputEnds.clear();
    for (const prefix of [INPUT_PREFIX, SECRET_PREFIX]) {
      for (const [key] of [...this.#storage.kv.list({ prefix })]) this.#storage.kv.delete(key);
    }
  }

  /** At most `limit` records after number `after`. */
  read(after: number, limit: number): AuditPage {
    const records: AuditRecord[] = [];
    let characters = 0;
    // The batch that holds record `after` + 1 is the last one that begins at it or before.
    const [holding] = this.#storage.kv.list({
      prefix: BATCH_PREFIX,
      end: batchKey(after + 2),
      reverse: true,
      limit: 1,
    });
    const start = holding?.[0] ?? batchKey(after + 1);
    for (const [, batch] of this.#storage.kv.list<Batch>({ prefix: BATCH_PREFIX, start })) {
      for (const one of batch) {
        if (one.seq <= after) continue;
        const record = this.#asRead(one);
        characters += JSON.stringify(record).length;
        if (records.length === limit || (records.length > 0 && characters > MAX_PAGE_CHARACTERS))
          return this.#page(records);
        records.push(record);
      }
    }
    return this.#page(records);
  }

  /** Deletes the batches whose newest record is from before `time`, and notes where the chain goes on. */
  deleteBefore(time: string): void {
    this.#oldestTime = undefined;
    this.#storage.transactionSync(() => {
      // The newest may be among them, and its facts about input would go with it.
      for (const [id, offset] of this.#newest.inputEnds) this.#storage.kv.put(INPUT_PREFIX + id, offset);
      for (;;) {
        const oldest = this.#oldestBatch;
        const last = oldest?.[1].at(-1);
        if (oldest === undefined || last === undefined || last.time >= time) return;
        this.#storage.kv.put(ANCHOR_KEY, { seq: last.seq, hash: last.hash } satisfies ChainPoint);
        for (const record of oldest[1]) if (isLong(record)) this.#long.delete(record.seq);
        this.#storage.kv.delete(oldest[0]);
      }
    });
  }

  /** The time of the next deletion of old records; undefined if there are no records. Not for every batch by itself. */
  deletionDueMs(retentionMs: number, nowMs: number): number | undefined {
    this.#oldestTime ??= this.#oldestBatch?.[1].at(-1)?.time;
    const time = this.#oldestTime;
    return time === undefined ? undefined : Math.max(Date.parse(time) + retentionMs, nowMs + MIN_DELETION_MS);
  }

  get #oldestBatch(): [string, Batch] | undefined {
    return [...this.#storage.kv.list<Batch>({ prefix: BATCH_PREFIX, limit: 1 })][0];
  }

  #asRead(record: StoredRecord): AuditRecord {
    if (record.type !== "input") return record;
    const { text, base64 } = record;
    const bytes = (content: Uint8Array | null) => content ?? this.#long.read(record.seq);
    // In the place that it has: the hash covers the order of the fields.
    if (text === null || text instanceof Uint8Array) return { ...record, text: textOf(bytes(text)) } as AuditRecord;
    if (base64 === null || base64 instanceof Uint8Array)
      return { ...record, base64: base64Of(bytes(base64)) } as AuditRecord;
    return record as AuditRecord;
  }

  #page(records: readonly AuditRecord[]): AuditPage {
    return { records, head: this.head, anchor: this.anchor };
  }

  get #newest(): Newest {
    this.#newestRead ??= this.#readNewest();
    return this.#newestRead;
  }

  #readNewest(): Newest {
    const [newest] = this.#storage.kv.list<Batch>({ prefix: BATCH_PREFIX, reverse: true, limit: 1 });
    const batch = newest?.[1] ?? [];
    const last = batch.at(-1);
    const head = last === undefined ? this.anchor : { seq: last.seq, hash: last.hash };
    const inputEnds = inputEndsOf(batch);
    // A client may have more settled than is in its records: input that was refused, and is counted in another.
    for (const [id, end] of inputEnds) {
      inputEnds.set(id, Math.max(end, this.#storage.kv.get<number>(INPUT_PREFIX + id) ?? 0));
    }
    return { head, inputEnds };
  }
}

/** How far the input that is in a batch goes, by client. */
function inputEndsOf(batch: Batch): Map<string, number> {
  const ends = new Map<string, number>();
  for (const record of batch) {
    if (record.type !== "input" || record.client === undefined || record.pane !== undefined) continue;
    ends.set(record.client, Math.max(ends.get(record.client) ?? 0, record.offset + record.length));
  }
  return ends;
}

/** The bytes of the input that an input's record holds. */
function contentOf(event: AuditEvent): Uint8Array | undefined {
  if (event.type !== "input") return undefined;
  const content = event.text ?? event.base64;
  return content instanceof Uint8Array ? content : undefined;
}

function isLong(record: StoredRecord): boolean {
  return record.type === "input" && (record.text === null || record.base64 === null);
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
}

/** Many clients' input may come while one write is on its way. */
function batchesOf(records: readonly StoredRecord[]): [StoredRecord, ...StoredRecord[]][] {
  const batches: [StoredRecord, ...StoredRecord[]][] = [];
  let room = 0;
  for (const record of records) {
    const content = record.type === "input" ? (record.text ?? record.base64 ?? "") : "";
    const bytes = RECORD_BYTES + content.length;
    const batch = batches.at(-1);
    if (batch === undefined || bytes > room) {
      batches.push([record]);
      room = MAX_BATCH_BYTES - bytes;
    } else {
      batch.push(record);
      room -= bytes;
    }
  }
  return batches;
}

function batchKey(seq: number): string {
  return BATCH_PREFIX + String(seq).padStart(16, "0");
}

/** Content of this length or more is stored apart. No key and no typed line is as long. */
const LONG_BYTES = 16 * 1024;

/**
 * Long typed input by its record's number, stored apart: among the records SQLite would read a neighbour's whole value to compare its
 * key with a new one.
 */
class LongContent {
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
