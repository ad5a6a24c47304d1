// The recordings of a tenant's sessions: their owners and sizes, and which of them make room for newer ones.

/** A session's report about one recording. */
export type RecordingReport = {
  /** The session's name as a Durable Object. */
  readonly sessionKey: string;
  readonly incarnation: string;
  /** The subject that started the process. */
  readonly by: string;
  readonly startedAtMs: number;
  readonly bytes: number;
  readonly isHeld: boolean;
  readonly isRemoved: boolean;
};

const PREFIX = "recording:";

export class TenantRecordings {
  readonly #storage: DurableObjectStorage;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  note(report: RecordingReport): void {
    const key = `${PREFIX}${report.sessionKey} ${report.incarnation}`;
    if (report.isRemoved) void this.#storage.delete(key, { allowUnconfirmed: true });
    else void this.#storage.put(key, report, { allowUnconfirmed: true });
  }

  of(by: string): RecordingReport[] {
    return this.#all().filter((report) => report.by === by);
  }

  /** The recordings to shorten, and by how many bytes, to get down to `maxBytes`. */
  excess(maxBytes: number): { readonly report: RecordingReport; readonly bytes: number }[] {
    const all = this.#all();
    let left = all.reduce((sum, { bytes }) => sum + bytes, 0) - maxBytes;
    const oldestFirst = all.filter(({ isHeld }) => !isHeld).sort((a, b) => a.startedAtMs - b.startedAtMs);
    return oldestFirst.flatMap((report) => {
      const bytes = Math.min(report.bytes, left);
      left -= Math.max(0, bytes);
      return bytes > 0 ? [{ report, bytes }] : [];
    });
  }

  get bytes(): number {
    return this.#all().reduce((sum, { bytes }) => sum + bytes, 0);
  }

  #all(): RecordingReport[] {
    return [...this.#storage.kv.list<RecordingReport>({ prefix: PREFIX })].map(([, report]) => report);
  }
}
