// A journal in memory, as a Durable Object's is in its storage: its owner may be made anew on it.
import type { Journal, JournalEvent, JournalStream, KeptEvent } from "../src/gateway/index.ts";

export class MemoryJournal implements Journal {
  readonly events: (JournalEvent & { isDelivered: boolean })[] = [];
  readonly #streams = new Map<number, JournalStream>();

  streams(): readonly JournalStream[] {
    return [...this.#streams.values()];
  }

  kept(): readonly KeptEvent[] {
    return this.events.map(({ stream, offset, text, isDelivered }) => ({
      stream,
      offset,
      bytes: text.length,
      isDelivered,
    }));
  }

  next(stream: number, after: number): JournalEvent | undefined {
    return this.events.find((event) => event.stream === stream && event.offset > after);
  }

  add(event: JournalEvent): void {
    this.events.push({ ...event, isDelivered: false });
  }

  delivered(offset: number): void {
    for (const event of this.events) if (event.offset === offset) event.isDelivered = true;
  }

  drop(offset: number): void {
    const at = this.events.findIndex((event) => event.offset === offset);
    this.events.splice(at, 1);
  }

  saveStream(stream: JournalStream): void {
    this.#streams.set(stream.stream, stream);
  }

  dropStream(stream: number): void {
    this.#streams.delete(stream);
  }
}
