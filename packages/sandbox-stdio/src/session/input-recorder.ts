// The interface between a session and the record of its input, and which input is new to the record. Knows neither the record's
// format nor its storage.

import type { ClientRecord } from "./client-record.ts";

/** What happened to a piece of input: passed on, refused, or either of them by an earlier life of this object. */
export type InputFate = "typed" | "refused" | "resent";

/** Records input. Input is acknowledged only once it is stored; the process does not wait for that. */
export interface InputRecorder {
  /**
   * Input in order of arrival for each client; may repeat earlier input. Copies what it keeps of `bytes`, which are emptied once
   * the other side has taken them.
   * @param received How much of this client's input the session had received before.
   */
  input(client: ClientRecord, received: number, offset: number, bytes: Uint8Array, fate: InputFate): void;
  /** Text for a pane, without offsets: recorded after the client's input so far (B9). */
  paneInput(client: ClientRecord, pane: string, bytes: Uint8Array, fate: "typed" | "refused"): void;
  /** All of this client's input before this offset is stored. Never decreases, even after a restart. */
  storedUpTo(clientId: string): number;
  /** Switches secrecy of this client's input from here on. @returns Whether that took effect. */
  setSecret(clientId: string, on: boolean): boolean;
  isSecret(clientId: string): boolean;
  /** Whether some of this client's input is not stored yet. */
  isBehind(clientId: string): boolean;
}

type Position = { given: number; stored: number };

/** How much of each client's input was given to a record, and how much is stored. */
export class InputPositions {
  readonly #positions = new Map<string, Position>();

  /** @param stored The offsets up to which input is stored already, by client. */
  constructor(stored: Iterable<readonly [string, number]> = []) {
    for (const [id, offset] of stored) this.#positions.set(id, { given: offset, stored: offset });
  }

  /**
   * How many bytes at the start of a piece of input the record already has; the rest is noted as given. If the offset is ahead,
   * the record continues there: the input between was lost, or went to a record that died with it. Input that the session has
   * not received is always new, since nothing proves that it is the same.
   */
  known(id: string, received: number, offset: number, length: number): number {
    const position = this.#positions.get(id) ?? { given: 0, stored: 0 };
    const known = Math.min(length, Math.max(0, Math.min(position.given, received) - offset));
    if (known < length) {
      position.given = Math.max(position.given, offset + length);
      this.#positions.set(id, position);
    }
    return known;
  }

  storedUpTo(id: string): number {
    return this.#positions.get(id)?.stored ?? 0;
  }

  isBehind(id: string): boolean {
    const position = this.#positions.get(id);
    return position !== undefined && position.stored < position.given;
  }

  noteStored(id: string, offset: number): void {
    const position = this.#positions.get(id);
    if (position !== undefined) position.stored = Math.max(position.stored, offset);
  }

  /** Forgets a client that can't return. */
  forget(id: string): void {
    this.#positions.delete(id);
  }
}
