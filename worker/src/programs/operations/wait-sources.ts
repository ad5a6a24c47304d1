// The sources of a wait beside the output (T1): the ends of a shell's commands, and the screen as drawn.

import { defined, type InnerClient } from "sandbox-stdio/core";
import type { Wait, WaitUntil } from "sandbox-stdio/programs";
import { type CommandEnd, commandEnds, type Kept, rowsOf, UNANSWERED } from "./ask-process.ts";
import { type ProgramAnswer, refused } from "./call.ts";
import type { Reached } from "./reached.ts";

/** The screen is looked at so often at most, while there is output. */
const SCREEN_INTERVAL_MS = 100;

export type ProcessPorts = { readonly hop: InnerClient; readonly kept: () => Kept };

/** Why this session can't be waited for in this way; undefined if it can. @param ends For a wait for the end of a command. */
export function cannotWait(
  until: Pick<WaitUntil, "kind"> | WaitUntil,
  reached: Reached,
  ends: CommandSource | undefined,
): ProgramAnswer | undefined {
  if ("id" in until && reached.state === "running") {
    const isKnown = reached.session?.state.asks.some(({ id }) => id === until.id);
    if (isKnown !== true) return refused(404, "no_such_ask", `no ask "${until.id}" in the last hour`);
  }
  if (until.kind === "screen" && !reached.isTty) {
    return refused(409, "no_screen", "the process has pipes: there is no screen");
  }
  return ends?.refusal;
}

/** Tells a wait of the ends of commands, also of commands that ended before the wait began. */
export class CommandSource {
  /** Undefined: the shell marks its commands. */
  readonly refusal: ProgramAnswer | undefined;
  readonly #reached: Reached;
  readonly #earlier: readonly CommandEnd[];

  private constructor(reached: Reached, earlier: readonly CommandEnd[], refusal: ProgramAnswer | undefined) {
    this.#reached = reached;
    this.#earlier = earlier;
    this.refusal = refusal;
  }

  /** Asks the process once. @returns undefined for a wait for anything else. */
  static async of(
    kind: WaitUntil["kind"] | undefined,
    reached: Reached,
    { hop, kept }: ProcessPorts,
  ): Promise<CommandSource | undefined> {
    if (kind !== "commandEnd") return undefined;
    const ends = await commandEnds(reached, hop, kept);
    if (typeof ends !== "string") return new CommandSource(reached, ends, undefined);
    const isUnanswered = ends === "no answer" && reached.state === "running";
    const noMarks = refused(409, "no_marks", "the session has shown no marks of its commands");
    const isMarked = (reached.session?.programs.commandEnds.length ?? 0) > 0;
    return new CommandSource(reached, [], isMarked ? undefined : isUnanswered ? UNANSWERED : noMarks);
  }

  tell(waiting: Wait): void {
    const end = this.#reached.log.endOffset;
    // The first one behind `from` counts: told again, the others change nothing.
    for (const { to, exit } of [...this.#earlier, ...(this.#reached.session?.programs.commandEnds ?? [])]) {
      // A command that ended with its shell has no mark, which would stand behind `to`: that is the exit's to tell.
      if (to >= end) continue;
      waiting.commandEnded({ offset: to, ...defined({ exit }) });
    }
  }
}

/** Tells a wait of the screen: at first, and when there was output since it was last looked at. */
export class ScreenSource {
  readonly #reached: Reached;
  readonly #ports: ProcessPorts;
  /** Looked at here last, and when. */
  #offset = -1;
  #atMs = Number.NEGATIVE_INFINITY;
  #isAsking = false;
  #state: string | undefined;
  /** The newest screen that the wait has not been told yet. */
  #news: { readonly rows: readonly string[]; readonly offset: number } | undefined;

  constructor(reached: Reached, ports: ProcessPorts) {
    this.#reached = reached;
    this.#ports = ports;
  }

  /** When to look again though nothing has changed; undefined: there is nothing new to look at. */
  get nextMs(): number | undefined {
    if (this.#news !== undefined) return Date.now();
    return this.#isAsking || this.#isDue ? this.#atMs + SCREEN_INTERVAL_MS : undefined;
  }

  /** Whether all there is has been looked at: only then may an ending count. */
  get isCurrent(): boolean {
    return !this.#isAsking && !this.#isDue && this.#news === undefined;
  }

  get #isDue(): boolean {
    return this.#offset < this.#reached.log.endOffset || this.#state !== this.#reached.state;
  }

  tell(waiting: Wait): void {
    const news = this.#news;
    this.#news = undefined;
    if (news !== undefined) waiting.screen(news.rows, news.offset);
    if (this.#isAsking || !this.#isDue || Date.now() < this.#atMs + SCREEN_INTERVAL_MS) return;
    this.#isAsking = true;
    this.#atMs = Date.now();
    const { endOffset } = this.#reached.log;
    const { state } = this.#reached;
    void rowsOf(this.#reached, this.#ports.hop, this.#ports.kept).then((rows) => {
      this.#isAsking = false;
      this.#offset = endOffset;
      this.#state = state;
      this.#news = rows;
    });
  }
}
