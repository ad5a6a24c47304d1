// Passes on what the output itself says: the end of a command, a call for attention, a title, a size. Each is told behind that output.

import type { InnerServer, ProcessSession } from "sandbox-stdio/core";
import type { Attention } from "sandbox-stdio/programs";
import type { CommandEnd } from "../marks/commands.ts";
import type { SessionMarkEvents } from "../marks/session-marks.ts";
import type { Bell } from "./bell.ts";

export class OutputNotes implements SessionMarkEvents {
  readonly #session: ProcessSession;
  readonly #inner: () => InnerServer | undefined;
  readonly #bell: Pick<Bell, "stopping">;

  /** @param inner The newest inner hop. */
  constructor(session: ProcessSession, inner: () => InnerServer | undefined, bell: Pick<Bell, "stopping">) {
    this.#session = session;
    this.#inner = inner;
    this.#bell = bell;
  }

  commandEnded(end: CommandEnd): void {
    this.#tellInner({ type: "command_end", ...end });
  }

  attention(attention: Attention): void {
    this.#tellInner({ type: "attention", ...attention });
  }

  titled(title: string): void {
    this.#session.title = title;
    this.#tellInner({ type: "title", title });
  }

  /** Another than the session has given the terminal this size, for the output that comes next. */
  sized(cols: number, rows: number): void {
    this.#session.sized({ cols, rows });
  }

  /** The bridge was told to stop: what still runs after so many seconds is ended. Nothing in the output says it. */
  stopping(seconds: number): void {
    this.#session.stopping(seconds);
    this.#inner()?.note({ type: "stopping", seconds });
    this.#bell.stopping();
  }

  /** Its session object can be called from now on. */
  callable(): void {
    this.#tellInner({ type: "calls" });
  }

  #tellInner(message: Parameters<InnerServer["note"]>[0]): void {
    setImmediate(() => {
      // What was read may wait for more of a flood; what is told of it comes behind it.
      this.#session.appended();
      this.#inner()?.note(message);
    });
  }
}
