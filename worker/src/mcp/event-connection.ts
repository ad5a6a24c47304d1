// One client's connection to one of its streams: reads the stream's messages at its own pace and sends them as events.

import type { JournalEvent } from "@sbx/mcp/gateway";
import { QUIET_MS } from "../programs/respond.ts";
import type { Bounded } from "../sockets/lifetimes.ts";

export interface EventSource {
  next(after: number): JournalEvent | undefined;
  delivered(offset: number): void;
  /** Whether nothing more will come. */
  isDone(): boolean;
}

/** As a connection, its bearer's token may run out, or be revoked. */
export class EventConnection implements Bounded {
  isEnded = false;
  readonly stream: number;
  readonly response: Response;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #source: EventSource;
  readonly #ended: () => void;
  #after: number;
  #wake: () => void = () => undefined;
  #isClosed = false;

  /**
   * @param primed Whether the stream begins with its id alone.
   * @param ended Called once, however it ends.
   */
  constructor(stream: number, after: number, primed: boolean, source: EventSource, ended: () => void) {
    this.stream = stream;
    this.#after = after;
    this.#source = source;
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    this.#writer = writable.getWriter();
    const headers = { "Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no" };
    this.response = new Response(readable, { headers });
    this.#ended = () => {
      if (this.isEnded) return;
      this.isEnded = true;
      ended();
    };
    // Its reader has gone.
    this.#writer.closed.catch(() => undefined).finally(() => this.close());
    void this.#pump(primed ? `id: ${stream}.${after}\ndata: \n\n` : ": \n\n");
  }

  /** There may be something new. */
  wake(): void {
    this.#wake();
  }

  /** Ends it where it stands; the client may resume. */
  close(): void {
    this.#isClosed = true;
    this.#wake();
    this.#ended();
  }

  /** Its bearer may not go on. */
  dismiss(): void {
    this.close();
  }

  async #pump(first: string): Promise<void> {
    try {
      await this.#say(first);
      while (!this.#isClosed) {
        const event = this.#source.next(this.#after);
        if (event !== undefined) {
          await this.#say(`event: message\nid: ${this.stream}.${event.offset}\ndata: ${event.text}\n\n`);
          this.#after = event.offset;
          this.#source.delivered(event.offset);
        } else if (this.#source.isDone()) break;
        else if (!(await this.#news())) await this.#say(": \n\n");
      }
      await this.#writer.close();
    } catch {
      // The client has gone: the store keeps the messages that the client did not get.
      await this.#writer.abort().catch(() => undefined);
    } finally {
      this.close();
    }
  }

  #say(text: string): Promise<void> {
    return this.#writer.write(new TextEncoder().encode(text));
  }

  /** @returns Whether there is any; false where it was quiet for long. */
  #news(): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), QUIET_MS);
      this.#wake = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }
}
