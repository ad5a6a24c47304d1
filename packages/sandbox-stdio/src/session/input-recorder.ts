// The interface between a session and the record of its input, and which input of a client is new to that record. Knows
// neither the form of the record, nor where it is stored.

import type { ClientRecord } from "./client-record.ts";

/** The fate of a piece of input: passed on, refused, or passed on or refused by an earlier life of this object. */
export type InputFate = "typed" | "refused" | "resent";

/** Keeps a record of input. Input that it has not stored is not acknowledged; the process does not wait for it. */
export interface InputRecorder {
  /**
   * Input as it came, in order for each client; input that was given before may be given again. Copies the part of
   * `bytes` that it keeps: they are empty once the other side has taken them.
   * @param received How much of this client's input the session had received before.
   */
  input(client: ClientRecord, received: number, offset: number, bytes: Uint8Array, fate: InputFate): void;
  /** Text for a pane, in no count: its record follows that of the client's input up to here (B9). */
  paneInput(client: ClientRecord, pane: string, bytes: Uint8Array, fate: "typed" | "refused"): void;
  /** All of this client's input before this offset is stored. Never goes back, also when everything starts anew. */
  storedUpTo(clientId: string): number;
  /** From here on this client's input is to be secret, or not any more. @returns Whether that is so. */
  setSecret(clientId: string, on: boolean): boolean;
  isSecret(clientId: string): boolean;
  /** Whether there is input of this client that was given and is not stored yet: soon it will be. */
  isBehind(clientId: string): boolean;
}

type Position = { given: number; stored: number };

/** How far each client's input has been given to a record, and how far it is stored there. */
export class InputPositions {
  readonly #positions = new Map<string, Position>();

  /** @param stored The offsets before which input is stored already, by client. */
  constructor(stored: Iterable<readonly [string, number]> = []) {
    for (const [id, offset] of stored) this.#positions.set(id, { given: offset, stored: offset });
  }

  /**
   * How many bytes at the start of a piece of input are not new to the record; the rest is noted as given. If the offset is
   * ahead of the given input, the record goes on there: the input between got lost, or was typed for a record that died with
   * it. Input that the session has not received is new in any case, since nothing says that it is the same again.
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

  /** The client can't come back. */
  forget(id: string): void {
    this.#positions.delete(id);
  }
}
