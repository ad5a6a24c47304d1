// *chunks* (E4): output in numbered pieces, the same for every caller and after every restart. The bridge numbers them, and the store
// once the process has ended.

import { defined, type InnerClient, joined, type OutputLog } from "sandbox-stdio/core";
import { type Chunk, type ChunkList, ChunkTable, readChunkList } from "sandbox-stdio/programs";
import { askProcess, type Kept, keptState, UNANSWERED } from "./ask-process.ts";
import type { Operation, ProgramAnswer } from "./call.ts";
import type { Reached } from "./reached.ts";
import { until } from "./until.ts";

type Asked = Extract<Operation, { type: "chunks" }>;

/** Chunks in one answer. */
const MAX_LISTED = 2_000;
const PATIENCE_MS = 10_000;

export interface ChunkPorts {
  readonly hop: InnerClient;
  readonly isReachable: boolean;
  kept(): Kept;
  keep(table: Uint8Array): void;
  /** The caller goes on reading, and has the output before this offset, if that is known. */
  follow(offset: number | undefined): void;
}

/** One process's. Remembers how far the table goes, so that the bridge is not asked about nothing new. */
export class Chunks {
  #incarnation = "";
  /** The newest chunk, and where it ends. */
  #known = { last: 0, end: 0 };

  async read(reached: Reached, asked: Asked, signal: AbortSignal, ports: ChunkPorts): Promise<ProgramAnswer> {
    if (this.#incarnation !== reached.incarnation) {
      this.#incarnation = reached.incarnation;
      this.#known = { last: 0, end: 0 };
    }
    const { log } = reached;
    // Asked again, by a caller that has it all, this is all that need be known of what it has.
    ports.follow(asked.after === this.#known.last ? this.#known.end : undefined);
    const isDue = () =>
      asked.after < this.#known.last || log.endOffset > this.#known.end || reached.state !== "running";
    if (!isDue()) await until(reached, Date.now() + asked.waitMs, signal, isDue);
    if (reached.isStale) return UNANSWERED;
    if (!isDue()) return answer(reached, { chunks: [], last: this.#known.last, isEnded: false });
    // Both before the bridge is asked: more may come meanwhile, and then the end.
    const end = log.endOffset;
    const isOver = reached.state !== "running";
    const list = readChunkList(keptState(await tableOf(reached, asked.after, ports)));
    if (list === undefined) return reached.state === "lost" ? lost(reached) : UNANSWERED;
    const table = new ChunkTable(list);
    const { last } = table;
    const isWhole = list.chunks.length <= MAX_LISTED && list.end >= end;
    if (isWhole) this.#known = { last, end };
    const before = asked.after === 0 ? 0 : endOf(table.list(asked.after - 1, 1).chunks[0]);
    ports.follow(before);
    const told = tell(log, table.list(asked.after, MAX_LISTED), asked, before);
    const isAll = isWhole && told.last >= last;
    const isEnded = isAll && isOver;
    // A caller that knows of the end counts it too.
    return answer(reached, { ...told, last: isEnded ? last : Math.min(told.last, last), isEnded });
  }
}

/** The answer's body, beside what every answer has. Its bytes are those of its chunks, one behind the other. */
export type ChunksBody = {
  readonly isTty: boolean;
  readonly chunks: readonly (readonly [seq: number, stream: number, length: number])[];
  /** The newest chunk that the caller has with this. */
  readonly last: number;
  /** Nothing follows. */
  readonly isEnded: boolean;
  readonly exitCode: number | null;
  /** Says which output is missing. */
  readonly failure: string | null;
};

type Told = Pick<ChunksBody, "chunks" | "last"> & {
  readonly failure?: string | undefined;
  readonly bytes?: Uint8Array;
};

/** @param before Where the last chunk ends that the caller has, if that is still known. */
function tell(log: OutputLog, list: ChunkList, { after, maxBytes }: Asked, before: number | undefined): Told {
  const chunks: (readonly [number, number, number])[] = [];
  const pieces: Uint8Array[] = [];
  let total = 0;
  let last = after;
  let failure =
    list.first > after + 1 ? `chunks ${after + 1} to ${list.first - 1} of the output are not held any more` : undefined;
  let end = before;
  for (const [i, [offset, length, stream]] of list.chunks.entries()) {
    const isHeld = offset >= log.startOffset;
    if (!isHeld || (end !== undefined && offset > end)) {
      const to = isHeld ? offset : Math.max(log.startOffset, offset + length);
      failure ??= `the output from ${Math.min(end ?? offset, offset)} to ${to} is not held any more`;
    }
    if (isHeld && total > 0 && total + length > maxBytes) break;
    end = offset + length;
    last = list.first + i;
    if (!isHeld) continue;
    const piece = new Uint8Array(length);
    log.copy(offset, length, piece, 0);
    pieces.push(piece);
    total += length;
    chunks.push([last, stream, length]);
  }
  return { chunks, last, failure, bytes: joined(pieces) };
}

function endOf(chunk: Chunk | undefined): number | undefined {
  return chunk && chunk[0] + chunk[1];
}

async function tableOf(reached: Reached, after: number, ports: ChunkPorts): Promise<Uint8Array | undefined> {
  const { log } = reached;
  // With the one that the caller has: where that ends tells whether anything is missing behind it.
  const question = { about: "chunks", after: Math.max(0, after - 1), to: log.endOffset, most: MAX_LISTED + 1 } as const;
  if (reached.state === "running") return askProcess(ports.hop, question, PATIENCE_MS);
  const kept = ports.kept().chunks;
  if (kept !== undefined) return kept;
  // A bridge that has lost the process has no table of it either.
  const canAsk = ports.isReachable && reached.state !== "lost";
  const asked = canAsk ? await askProcess(ports.hop, question, PATIENCE_MS) : undefined;
  // Meanwhile the state may have been stored, and the bridge released.
  const told = ports.kept().chunks ?? asked;
  if (told !== undefined || reached.state === "lost") return told;
  // Nobody was told of any chunk while it ran.
  const table = new ChunkTable();
  table.cut(log);
  const text = new TextEncoder().encode(JSON.stringify(table.list()));
  ports.keep(text);
  return text;
}

function answer(reached: Reached, told: Told & { readonly isEnded: boolean }): ProgramAnswer {
  const { chunks, last, isEnded, failure = null, bytes } = told;
  const { incarnation, state, isTty, exit } = reached;
  const body: ChunksBody = { isTty, chunks, last, isEnded, exitCode: exit?.code ?? null, failure };
  return { status: 200, body: { incarnation, state, ...body }, ...defined({ bytes }) };
}

function lost(reached: Reached): ProgramAnswer {
  const failure = "the process was lost with its container";
  return answer(reached, { chunks: [], last: 0, isEnded: true, failure });
}
