// Starting a server again that crashed, unless it crashes again and again. Knows no server, only how to start one.

export interface RevivalOptions {
  /** Its name in messages. */
  readonly name: string;
  /** What the crash is to its clients: a sentence. */
  readonly effect: string;
  /** Starts it again. Told again while it still works, where that start crashed too: the earlier one may then reject. */
  readonly restart: () => Promise<void>;
  /** A line for people. */
  readonly say: (line: string) => void;
  /** Told once, with a message for people, when it stays down. */
  readonly giveUp: (message: string) => void;
  /** Monotonic, in milliseconds. */
  readonly now: () => number;
}

/** A crash now and then costs its clients some seconds; one that comes back at once has a cause that people must look for. */
const MOST_CRASHES = 3;
const WITHIN_MS = 60_000;

export class Revival {
  readonly #options: RevivalOptions;
  /** When the last crashes were, oldest first. */
  #crashes: number[] = [];
  #attempts = 0;

  constructor(options: RevivalOptions) {
    this.#options = options;
  }

  /** The server has crashed. @param message For people: the known facts. Resolves when it is up again, or given up. */
  async crashed(message: string): Promise<void> {
    const { name, effect, restart, say, giveUp, now } = this.#options;
    this.#crashes = [...this.#crashes.filter((at) => now() - at < WITHIN_MS), now()];
    this.#attempts += 1;
    const attempt = this.#attempts;
    if (this.#crashes.length > MOST_CRASHES) {
      giveUp(`Given up after ${this.#crashes.length} crashes within a minute. ${message}`);
      return;
    }
    say(`The ${name} has crashed: starting it again. ${effect}`);
    try {
      await restart();
      if (attempt === this.#attempts) say(`The ${name} is up again`);
    } catch (error) {
      // Where the start crashed as well, that crash has an attempt of its own.
      if (attempt === this.#attempts) giveUp(error instanceof Error ? error.message : String(error));
    }
  }
}
