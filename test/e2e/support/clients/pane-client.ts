// A client of a session with panes that keeps the list that it was told last, comes back when it was cut, and asks tmux itself
// for the truth.
import { execFileSync } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import type { PanesMessage } from "sandbox-stdio/core";
import { childEnv } from "../../../../packages/local/src/base/env.ts";
import type { Random } from "../../../../packages/local/src/base/random.ts";
import { fresh, type Person } from "../system/system.ts";
import { until } from "../system/wait.ts";
import { connect, HttpRefusal, type Params, type TestClient } from "./client.ts";

type Pane = PanesMessage["panes"][number];

/** A Worker may just be starting again, on a machine that does other things, too. */
const LIMIT_MS = 120_000;
const REPEAT_MS = 1_000;

/** What is done in one step: by us, or by somebody else with `tmux …` in the sandbox. */
type Step = { readonly say: object } | { readonly outside: readonly string[] };

export class PaneClient {
  client: TestClient;
  readonly who: Person;
  readonly params: Params & { readonly session: string };

  static async attach(who: Person, params: Params & { readonly session: string }): Promise<PaneClient> {
    const client = new PaneClient(who, params, await connect(who, params));
    await client.client.hello();
    return client;
  }

  private constructor(who: Person, params: Params & { readonly session: string }, client: TestClient) {
    this.who = who;
    this.params = params;
    this.client = client;
  }

  get panes(): readonly Pane[] {
    return (this.client.messages("panes").at(-1)?.panes ?? []) as Pane[];
  }

  get windows(): readonly { readonly id: string }[] {
    return (this.client.messages("panes").at(-1)?.windows ?? []) as { id: string }[];
  }

  /** In the words of {@link TmuxOfSession}'s `list`. */
  told(): string[] {
    return this.panes.map(
      ({ id, window, active, cols, rows, left, top }) =>
        `${id} ${window} ${active ? 1 : 0} ${cols}x${rows}+${left}+${top}`,
    );
  }

  until(what: string, holds: () => boolean): Promise<boolean> {
    return this.client.until(what, () => holds() || undefined);
  }

  /** Is attached again, as the same client, if its connection has ended; and knows the panes. */
  async back(): Promise<void> {
    const { resume } = await this.client.hello();
    for (let at = this.client; at.socket.readyState !== at.socket.OPEN; at = this.client) {
      await at.closed;
      try {
        this.client = await connect(this.who, { ...this.params, resume: String(resume), offset: at.offset });
      } catch (error) {
        // Nobody answers, or the Worker is just starting.
        if (error instanceof HttpRefusal && error.status < 500) throw error;
        await delay(50);
      }
    }
  }

  /** Gives a pane a name, again and again until that is told: what is on its way when a connection is cut may be lost. */
  async name(pane: string, name: string): Promise<void> {
    let saidAtMs = 0;
    await until(
      `${pane} to be ${name}`,
      async () => {
        if (this.panes.some((one) => one.id === pane && one.name === name)) return true;
        if (performance.now() - saidAtMs < REPEAT_MS) return undefined;
        await this.back();
        saidAtMs = performance.now();
        this.client.say({ type: "pane", action: "name", pane, name });
        return undefined;
      },
      LIMIT_MS,
    );
  }

  /** @param kept The pane that is not closed. */
  step(random: Random, kept: string): Step {
    const pane = random.pick(this.panes).id;
    const roll = random.int(0, 99);
    const isOutside = random.int(0, 2) === 0;
    if (this.panes.length < 4 || roll < 35) {
      const across = roll % 2 === 0 ? "right" : "below";
      if (isOutside) return { outside: ["split-window", across === "right" ? "-h" : "-v", "-t", pane] };
      return { say: { type: "pane", action: "split", pane, across } };
    }
    if (roll < 60 && pane !== kept)
      return isOutside ? { outside: ["kill-pane", "-t", pane] } : { say: { type: "pane", action: "close", pane } };
    if (roll < 75) {
      const [cols, rows] = [2 + random.int(0, 119), 2 + random.int(0, 39)];
      if (isOutside) return { outside: ["resize-pane", "-t", pane, "-x", String(cols), "-y", String(rows)] };
      return { say: { type: "resize", pane, cols, rows } };
    }
    if (roll < 80) return { say: { type: "pane", action: "swap", pane, with: random.pick(this.panes).id } };
    if (roll < 85) return { say: { type: "pane", action: "select", pane } };
    if (roll < 89) return { say: { type: "pane", action: "zoom", pane } };
    if (roll < 92) return { say: { type: "pane", action: "break", pane } };
    if (roll < 94) return { say: { type: "pane", action: "new_window" } };
    const window = random.pick(this.windows).id;
    const [cols, rows] = [40 + random.int(0, 159), 20 + random.int(0, 59)];
    return { say: { type: "pane", action: "resize_window", window, cols, rows } };
  }
}

/** tmux, as somebody in the sandbox has it. */
export class TmuxOfSession {
  readonly #socket: string;

  /** Asks a shell in the session's first pane where its server is. */
  static async of({ who, params }: PaneClient): Promise<TmuxOfSession> {
    const pane = await connect(who, { session: fresh("look"), pane: `${params.session}:0` });
    await pane.hello();
    pane.type('echo "T=$TMUX"\r');
    const [, socket = ""] = /T=(\/[^,\s]+),\d+/.exec(await pane.output(/T=(\/[^,\s]+),\d+/)) ?? [];
    await pane.leave();
    return new TmuxOfSession(socket);
  }

  /** @param socket The path of its server's socket. */
  static at(socket: string): TmuxOfSession {
    return new TmuxOfSession(socket);
  }

  private constructor(socket: string) {
    this.#socket = socket;
  }

  run(...words: readonly string[]): string {
    const env = childEnv({ LC_ALL: "C.UTF-8" });
    return execFileSync("tmux", ["-N", "-S", this.#socket, ...words], { encoding: "utf8", env, stdio: "pipe" });
  }

  /** The same, where it may be refused to anybody: there is no room for another pane. */
  try(...words: readonly string[]): void {
    try {
      this.run(...words);
    } catch (error) {
      if (!(error instanceof Error && "status" in error && error.status === 1)) throw error;
    }
  }

  /** All panes, in its order. */
  list(): string[] {
    const format = "#{pane_id} #{window_id} #{pane_active} #{pane_width}x#{pane_height}+#{pane_left}+#{pane_top}";
    return this.run("list-panes", "-a", "-F", format).trimEnd().split("\n");
  }

  get hasEnded(): boolean {
    try {
      this.run("list-sessions");
      return false;
    } catch {
      return true; // There is no server without a session.
    }
  }
}
