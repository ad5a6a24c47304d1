// A session's recording on the page: what is shown of it and where, and the ways through it. No React.

import { defined } from "sandbox-stdio/core";
import type { SessionTarget } from "../connection/session-target.ts";
import { Store } from "../ui/store.ts";
import { Playback, type PlaybackPorts } from "./playback.ts";
import { type Listed, type Mark, type Place, queryOf, RecordingCalls } from "./recording-calls.ts";

/** A moment that a link names. */
export type Moment = { readonly atMs: number; readonly incarnation: string | undefined };

/** The way in of a visitor who came by a link: the ticket, and when the recording began. */
export type SharedRecording = { readonly ticket: string; readonly startMs: number };

export type RecordingState = {
  /** undefined: it is asked for. */
  readonly recording: Listed | undefined;
  /** The end, which moves while the process runs. */
  readonly endMs: number;
  readonly atMs: number;
  readonly isPlaying: boolean;
  readonly speed: number;
  readonly skipsIdle: boolean;
  readonly commands: readonly Mark[];
  readonly term: string;
  /** undefined: nothing is searched for, or not yet found. */
  readonly hits: readonly Mark[] | undefined;
  readonly fault: string | undefined;
};

const FIRST: RecordingState = {
  recording: undefined,
  endMs: 0,
  atMs: 0,
  isPlaying: false,
  speed: 1,
  skipsIdle: true,
  commands: [],
  term: "",
  hits: undefined,
  fault: undefined,
};

export class RecordingModel extends Store<RecordingState> {
  readonly #calls: RecordingCalls;
  readonly #target: SessionTarget;
  readonly #playback: Playback;
  readonly #shared: SharedRecording | undefined;
  #search = new AbortController();

  constructor(target: SessionTarget, ports: Pick<PlaybackPorts, "reset" | "show">, shared?: SharedRecording) {
    super(FIRST);
    this.#target = target;
    this.#shared = shared;
    this.#calls = new RecordingCalls(target, shared?.ticket);
    this.#playback = new Playback({ ...ports, changed: () => this.#changed() });
    this.#playback.skipsIdle = FIRST.skipsIdle;
  }

  /** Finds the recording, and shows it at this moment, or at its start. */
  async open(moment: Moment | undefined): Promise<void> {
    await this.#orFault(async () => {
      const shared = this.#shared && { ...this.#shared, incarnation: undefined, endMs: undefined };
      const recording = shared ?? (await this.#calls.find(moment?.incarnation));
      const endMs = recording.endMs ?? Date.now();
      this.change({ recording, endMs, atMs: recording.startMs });
      const { incarnation } = recording;
      if (incarnation !== undefined)
        void this.#calls.commands(incarnation).then((commands) => this.change({ commands }));
      const atMs = Math.min(Math.max(moment?.atMs ?? recording.startMs, recording.startMs), endMs);
      await this.#start(moment === undefined ? undefined : placeAt(atMs), atMs);
    });
  }

  play(): void {
    const { recording, atMs, endMs } = this.state;
    if (recording === undefined) return;
    if (atMs >= endMs && recording.endMs !== undefined) this.seek(recording.startMs);
    this.#playback.isPlaying = true;
  }

  pause(): void {
    this.#playback.isPlaying = false;
  }

  set speed(speed: number) {
    this.#playback.speed = speed;
  }

  set skipsIdle(skips: boolean) {
    this.#playback.skipsIdle = skips;
  }

  seek(atMs: number): void {
    this.#go({ ...placeAt(atMs), atMs });
  }

  /** The next command or match in a direction. @returns Whether there is one. */
  jump(to: "commands" | "hits", direction: 1 | -1): boolean {
    const marks = this.state[to] ?? [];
    const { atMs } = this.state;
    const found =
      direction === 1 ? marks.find((mark) => mark.atMs > atMs) : marks.findLast((mark) => mark.atMs < atMs - 1);
    if (found !== undefined) this.#go(found);
    return found !== undefined;
  }

  /** Searches the whole recording, and goes to the first match behind the moment that is shown. */
  async find(term: string): Promise<void> {
    this.#search.abort();
    const search = new AbortController();
    this.#search = search;
    this.change({ term, hits: undefined });
    const { recording } = this.state;
    if (recording === undefined || term === "") return;
    await this.#orFault(async () => {
      const hits = await this.#calls.search(recording.incarnation, term, search.signal);
      if (search.signal.aborted) return;
      this.change({ hits });
      const [first] = hits;
      if (!this.jump("hits", 1) && first !== undefined) this.#go(first);
    });
  }

  /** The page's address at the moment that is shown: it looks on, and starts nothing. */
  link(page: string): string {
    const url = new URL("/", page);
    const { recording, atMs } = this.state;
    const query = { ...this.#target, role: "viewer", at: new Date(atMs).toISOString() };
    url.search = new URLSearchParams(defined({ ...query, of: recording?.incarnation })).toString();
    if (this.#shared !== undefined) url.hash = `ticket=${this.#shared.ticket}`;
    return url.href;
  }

  /** Its address; undefined for visitors: a browser sends no ticket with it. */
  get download(): string | undefined {
    const { recording } = this.state;
    return this.#shared === undefined
      ? this.#calls.address(defined({ incarnation: recording?.incarnation }))
      : undefined;
  }

  dispose(): void {
    this.#search.abort();
    this.#playback.stop();
    this.forgetListeners();
  }

  #go(place: Place): void {
    void this.#orFault(() => this.#start(place, place.atMs));
  }

  async #start(place: { readonly from: string } | undefined, atMs: number): Promise<void> {
    const { recording } = this.state;
    if (recording === undefined) return;
    this.change({ fault: undefined });
    const query = queryOf(recording.incarnation, place && { ...place, atMs }, recording.endMs === undefined);
    await this.#playback.start((signal) => this.#calls.events(query, signal), atMs);
  }

  #changed(): void {
    const { atMs, isPlaying, speed, skipsIdle } = this.#playback;
    this.change({ atMs, isPlaying, speed, skipsIdle, endMs: Math.max(this.state.endMs, atMs) });
  }

  async #orFault(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.change({ fault: error instanceof Error ? error.message : String(error) });
    }
  }
}

const placeAt = (atMs: number) => ({ from: new Date(atMs).toISOString() });
