// One `tmux -C` process, attached to a session beside its viewers: its bytes in and out, without their meaning.

import { Buffer } from "node:buffer";
import { type ChildProcess, type ProcessSpec, type StartFault, startProcess } from "../process/process.ts";

/** The surroundings of tmux. `server`: the words that name the server (`-S PATH`), if not the default one. */
export type TmuxPlace = Pick<ProcessSpec, "env" | "cwd" | "user"> & { readonly server?: readonly string[] };

export type ControlEvents = {
  /** The bytes are valid until this returns. */
  received(bytes: Uint8Array): void;
  ended(): void;
};

/** The client does not limit the size of windows, and tmux pauses a pane whose output it can't keep up with, instead of buffering. */
const FLAGS = "ignore-size,pause-after=30";
const READ_BYTES = 64 * 1024;

export class ControlClient {
  readonly #child: ChildProcess;
  #waiting: Buffer[] = [];

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** @param isTerminal Whether it runs as `tmux -CC` on a PTY, as terminals start it, or on pipes. */
  static start(
    place: TmuxPlace,
    session: string,
    events: ControlEvents,
    isTerminal = false,
  ): ControlClient | StartFault {
    const { server = [], ...around } = place;
    const room = new Uint8Array(READ_BYTES);
    const sink = {
      reserve: () => room,
      // If tmux can't attach it ends, so its error output is dropped.
      commit: (length: number, stream: 1 | 2) => {
        if (stream === 1) events.received(room.subarray(0, length));
      },
      flush: () => undefined,
    };
    // -u: UTF-8 in any locale. -N: starts no server, which would have no session and end while another client is about to make one.
    const args = ["-u", "-N", ...server, isTerminal ? "-CC" : "-C", "attach-session", "-t", `=${session}`, "-f", FLAGS];
    const spec = { cmd: "tmux", args, tty: isTerminal, cols: 80, rows: 24, lingerMs: 0, ...around };
    let client: ControlClient | undefined;
    const child = startProcess(spec, sink, {
      onWritable: () => client?.flush(),
      onExit: () => events.ended(),
    });
    if ("fault" in child) return child;
    client = new ControlClient(child);
    return client;
  }

  get pid(): number {
    return this.#child.pid;
  }

  send(text: string): void {
    this.#waiting.push(Buffer.from(text));
    if (this.#waiting.length === 1) this.flush();
  }

  end(): void {
    this.#child.signalAll("SIGKILL");
  }

  /** The kernel takes input again. */
  private flush(): void {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const taken = this.#child.write(first);
      if (taken < first.length) {
        this.#waiting[0] = first.subarray(taken);
        return;
      }
      this.#waiting.shift();
    }
  }
}
