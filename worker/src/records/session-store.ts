// The storage of a session object: its process, and how that ended.

import {
  type Ask,
  copyBytes,
  decodeArchive,
  type ExitStatus,
  encodeArchive,
  type KnownClient,
  type OutputLog,
  type Recording,
  type SessionFacts,
  type Snapshot,
} from "sandbox-stdio/core";
import { dropGateway } from "./gateway-store.ts";

/** The process that this session belongs to, from its first greeting on. */
export type SessionRecord = {
  /** The tenant whose session it is: its object's name. Absent in what an earlier version stored. */
  readonly homeKey?: string;
  /** The connection, or call, that had it started. Absent in what an earlier version stored. */
  readonly startedBy?: string;
  readonly sandboxKey: string;
  readonly facts: SessionFacts;
  readonly cmd: readonly string[];
  readonly createdAt: string;
  /** The client that created it. */
  readonly creator: string;
  readonly offset: number;
  /** Whether it is forgotten once it has ended and no client is left. */
  readonly isTransient?: boolean;
  /** Whether it also ends as soon as no client is left. */
  readonly endsUnattended?: boolean;
  readonly exit?: ExitStatus;
  readonly exitedAtMs?: number;
  /** When it turned out that the process is gone without an exit. Its received output is kept. */
  readonly lostAtMs?: number;
  /** A digest of all that makes two processes the same. Absent in what an earlier version stored. */
  readonly identity?: string;
  /** The life of the client that started it (`attempt=LIFE.N`). */
  readonly attemptLife?: string;
  /** The name is of its client's own making, and the process is on pipes: no other client looks for it (L7a). */
  readonly isUnnamed?: boolean;
  /** Since when no client is attached to an unnamed one, whose client's connection was seen to close. */
  readonly desertedAtMs?: number | undefined;
  /** Set if a program has made it by HTTP. */
  readonly program?: ProgramFacts;
  /** The asks of its programs for a person in the last hour. */
  readonly asks?: readonly Ask[];
  /** A digest of the input that the first *run* with any gave it, its end included: another is refused (U4). */
  readonly runInput?: string;
  /** Whether its bridge calls this object where there is news and the object has gone. */
  readonly hasBell?: boolean;
  /** The terminal's size when it was last known. */
  readonly size?: { readonly cols: number; readonly rows: number };
  /** The last known title that the program gave its terminal. */
  readonly title?: string;
  /** Its output is recorded. */
  readonly recording?: Recording | undefined;
  /** When its last output came, as far as is known here. */
  readonly lastOutputMs?: number | undefined;
  /** The clients known at the exit: input that the process had taken is not refused to one that comes back. */
  readonly clients?: readonly KnownClient[];
};

export type ProgramFacts = {
  /** Whether the process was started with input, or with its end: that was the input of writer `run` (U4). */
  readonly hasInput: boolean;
  /** The attempt that started it, where that was to replace an ended one. */
  readonly attempt?: string;
  /** How long it is kept after its exit and the last call about it. */
  readonly keepExitedMs: number;
  readonly calledAtMs: number;
  /** Whether its output was told in numbered chunks: what the numbers mean is kept with it (E4). */
  readonly isChunked?: boolean;
};

export type KeptAnswer = "screen" | "commands" | "chunks";

/** When the object next looks at a process without clients. */
export const NEXT_LOOK = "next look";

const MAX_KEPT_BYTES = 2 * 1024 * 1024 - 16 * 1024;

/** Older ones have no `changes` of the size. */
type Archive = { start: number; cols: number; rows: number; changes?: OutputLog["changes"] };

/** How long the log and status of an ended process can be read, where no program says otherwise, and of a lost one. */
const EXITED_KEEP_MS = 24 * 60 * 60_000;

/** Whether its process is no more: it has exited, or was lost. */
export function isOver({ exit, lostAtMs }: Pick<SessionRecord, "exit" | "lostAtMs">): boolean {
  return exit !== undefined || lostAtMs !== undefined;
}

/** Until when it is kept; infinity while its process runs, as far as is known. */
export function keptUntilMs({ exitedAtMs, lostAtMs, program }: SessionRecord): number {
  if (lostAtMs !== undefined) return lostAtMs + EXITED_KEEP_MS;
  if (exitedAtMs === undefined) return Number.POSITIVE_INFINITY;
  if (program === undefined) return exitedAtMs + EXITED_KEEP_MS;
  return Math.max(exitedAtMs, program.calledAtMs) + program.keepExitedMs;
}

export class SessionStore {
  readonly #storage: DurableObjectStorage;
  /** As stored: it is asked for with every message, and every look into the storage costs. */
  #record: SessionRecord | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.#record = storage.kv.get<SessionRecord>("session");
  }

  get record(): SessionRecord | undefined {
    return this.#record;
  }

  set record(record: SessionRecord) {
    this.#storage.kv.put("session", record);
    this.#record = record;
  }

  /** Stores the log, in place of one stored before. */
  saveLog(log: OutputLog): void {
    const archive: Archive = { start: log.startOffset, ...log.sizeAt(log.startOffset), changes: log.changes };
    this.#storage.transactionSync(() => {
      // Made here and not at the start: a client of a new session must not wait for a table.
      this.#storage.sql.exec("CREATE TABLE IF NOT EXISTS log (piece INTEGER PRIMARY KEY, bytes BLOB NOT NULL)");
      this.#storage.sql.exec("DELETE FROM log");
      encodeArchive(log).forEach((piece, i) => {
        this.#storage.sql.exec("INSERT INTO log (piece, bytes) VALUES (?, ?)", i, piece);
      });
      this.#storage.kv.put("archive", archive);
    });
  }

  get hasLog(): boolean {
    return this.#storage.kv.get<Archive>("archive") !== undefined;
  }

  loadLog(): OutputLog | undefined {
    const archive = this.#storage.kv.get<Archive>("archive");
    if (archive === undefined) return undefined;
    const rows = this.#storage.sql.exec<{ bytes: ArrayBuffer }>("SELECT bytes FROM log ORDER BY piece");
    const pieces = rows.toArray().map((row) => new Uint8Array(row.bytes));
    return decodeArchive(pieces, archive.start, archive, archive.changes, copyBytes(this.record?.facts ?? {}));
  }

  /** The screen that an ended process left behind, where its log alone does not give it. */
  get lastScreen(): Snapshot | undefined {
    return this.#storage.kv.get<Snapshot>("screen");
  }

  set lastScreen(snapshot: Snapshot) {
    this.#storage.kv.put("screen", snapshot);
  }

  /** The bridge's answers about an ended process's screen, commands and numbered output: JSON. */
  get kept(): Readonly<Record<KeptAnswer, Uint8Array | undefined>> {
    const of = (name: string) => this.#storage.kv.get<Uint8Array>(`last ${name}`);
    return { screen: of("screen"), commands: of("commands"), chunks: of("chunks") };
  }

  keep(name: KeptAnswer, json: Uint8Array): void {
    // A value of the store has at most 2 MiB.
    if (json.length < MAX_KEPT_BYTES) this.#storage.kv.put(`last ${name}`, json);
  }

  /** Forgets the process: the next attach makes another. */
  clear(): void {
    this.#storage.transactionSync(() => {
      if (this.#storage.kv.delete("archive")) this.#storage.sql.exec("DELETE FROM log");
      this.#storage.kv.delete("screen");
      this.#storage.kv.delete("last screen");
      this.#storage.kv.delete("last commands");
      this.#storage.kv.delete("last chunks");
      this.#storage.kv.delete(NEXT_LOOK);
      this.#storage.kv.delete("session");
      dropGateway(this.#storage);
    });
    this.#record = undefined;
  }
}
