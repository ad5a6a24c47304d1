// A session's recording on the page: what is shown of it and where, and the ways through it. No React.

import { defined } from "sandbox-stdio/core";
import type { SessionTarget } from "../connection/session-target.ts";
import { Store } from "../ui/store.ts";
import { PAUSED, Playback, type PlaybackPorts, type PlaybackState } from "./playback.ts";
import { type Listed, type Mark, RecordingCalls } from "./recording-calls.ts";

/** A moment that a link names. */
export type Moment = { readonly atMs: number; readonly incarnation: string | undefined };

/** The way in of a visitor who came by a link: the ticket, and when the recording began. */
export type SharedRecording = { readonly ticket: string; readonly startMs: number };

export type RecordingState = PlaybackState & {
  /** undefined: it is asked for. */
  readonly recording: Listed | undefined;
  /** The end, which moves while the process runs. */
  readonly endMs: number;
  readonly commands: readonly Mark[];
  readonly term: string;
  /** undefined: nothing is searched for, or not yet found. */
  readonly hits: readonly Mark[] | undefined;
  readonly fault: string | undefined;
};

const NOTHING = { recording: undefined, endMs: 0, commands: [], term: "", hits: undefined, fault: undefined };

export class RecordingModel extends Store<RecordingState> {
  readonly #calls: RecordingCalls;
  readonly #target: SessionTarget;
  readonly #playback: Playback;
  readonly #shared: SharedRecording | undefined;
  #search = new AbortController();

  constructor(target: SessionTarget, ports: Pick<PlaybackPorts, "reset" | "show">, shared?: SharedRecording) {
    super({ ...NOTHING, ...PAUSED });
    this.#target = target;
    this.#shared = shared;
    this.#calls = new RecordingCalls(target, shared?.ticket);
    const changed = (state: PlaybackState) => this.change({ ...state, endMs: Math.max(this.state.endMs, state.atMs) });
    this.#playback = new Playback({ ...ports, changed });
    this.#playback.set({ skipsIdle: true });
  }

  /** Finds the recording, and shows it at this moment, or at its end: what people see now. */
  open(moment: Moment | undefined): Promise<void> {
    return this.#orFault(async () => {
      const shared = this.#shared && { ...this.#shared, incarnation: undefined, endMs: undefined };
      const recording = shared ?? (await this.#calls.find(moment?.incarnation));
      const { incarnation, startMs, endMs = Date.now() } = recording;
      this.change({ recording, endMs, atMs: startMs });
      if (incarnation !== undefined)
        void this.#calls.commands(incarnation).then((commands) => this.change({ commands }));
      const atMs = Math.min(Math.max(moment?.atMs ?? endMs, startMs), endMs);
      await this.#start(isoOf(atMs), atMs);
    });
  }

  play(): void {
    const { recording, atMs, endMs } = this.state;
    if (recording === undefined) return;
    if (atMs >= endMs && recording.endMs !== undefined) this.seek(recording.startMs);
    this.set({ isPlaying: true });
  }

  set(change: Partial<Omit<PlaybackState, "atMs">>): void {
    this.#playback.set(change);
  }

  seek(atMs: number): void {
    this.#go({ from: isoOf(atMs), atMs });
  }

  /** A hundredth of the whole in a direction, but at least one second and at most ten. */
  step(direction: 1 | -1): void {
    const { recording, atMs, endMs } = this.state;
    if (recording === undefined) return;
    const { startMs } = recording;
    const stepMs = Math.min(10_000, Math.max(1_000, (endMs - startMs) / 100));
    this.seek(Math.round(Math.min(endMs, Math.max(startMs, atMs + direction * stepMs))));
  }

  /** The next command or match in a direction. @returns Whether there is one. */
  jump(to: "commands" | "hits", direction: 1 | -1): boolean {
    const { atMs } = this.state;
    const marks = this.state[to] ?? [];
    const isNext = (mark: Mark) => (direction === 1 ? mark.atMs > atMs : mark.atMs < atMs - 1);
    const found = direction === 1 ? marks.find(isNext) : marks.findLast(isNext);
    if (found !== undefined) this.#go(found);
    return found !== undefined;
  }

  /** Searches the whole recording, and goes to the first match behind the moment that is shown. */
  async find(term: string): Promise<void> {
    this.#search.abort();
    this.#search = new AbortController();
    const { signal } = this.#search;
    this.change({ term, hits: undefined });
    const { recording } = this.state;
    if (recording === undefined || term === "") return;
    await this.#orFault(async () => {
      const hits = await this.#calls.search(recording.incarnation, term, signal);
      if (signal.aborted) return;
      this.change({ hits });
      const [first] = hits;
      if (!this.jump("hits", 1) && first !== undefined) this.#go(first);
    });
  }

  /** The page's address at the moment that is shown: it looks on, and starts nothing. */
  link(page: string): string {
    const url = new URL("/", page);
    const { recording, atMs } = this.state;
    const query = { ...this.#target, role: "viewer", at: isoOf(atMs), of: recording?.incarnation };
    url.search = new URLSearchParams(defined(query)).toString();
    if (this.#shared !== undefined) url.hash = `ticket=${this.#shared.ticket}`;
    return url.href;
  }

  /** Its address; undefined for visitors: a browser sends no ticket with it. */
  get download(): string | undefined {
    const query = defined({ incarnation: this.state.recording?.incarnation });
    return this.#shared === undefined ? this.#calls.address(query) : undefined;
  }

  dispose(): void {
    this.#search.abort();
    this.#playback.stop();
    this.forgetListeners();
  }

  #go({ from, atMs }: Pick<Mark, "from" | "atMs">): void {
    void this.#orFault(() => this.#start(from, atMs));
  }

  async #start(from: string | undefined, atMs: number): Promise<void> {
    const { recording } = this.state;
    if (recording === undefined) return;
    this.change({ fault: undefined });
    const { incarnation, endMs } = recording;
    const query = defined({ incarnation, from, follow: endMs === undefined ? "1" : undefined });
    await this.#playback.start((signal) => this.#calls.events(query, signal), atMs);
  }

  async #orFault(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.change({ fault: error instanceof Error ? error.message : String(error) });
    }
  }
}

/** The number of the match that a moment stands at or behind; 0 before the first. */
export function matchAt(hits: readonly Mark[], atMs: number): number {
  return hits.findLastIndex((hit) => hit.atMs <= atMs) + 1;
}

const isoOf = (ms: number) => new Date(ms).toISOString();
