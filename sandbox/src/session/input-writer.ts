// Writes the clients' input, and the bridge's own, to the process: in order of arrival, as fast as the process takes it.

import { type ClientRecord, type ProcessSession, release } from "sandbox-stdio/core";
import type { ChildProcess } from "../process/process.ts";

/** Bytes of the bridge's own input that may wait for a process that does not read. The rest is dropped, as a terminal does. */
const MAX_OWN_BYTES = 16 * 1024;

/** Input of the bridge itself; `isFirst`: the input that the process was started with, and whether it ends there. */
type Own = { rest: Uint8Array; readonly isFirst?: true; readonly isEnd?: boolean };

export class InputWriter {
  readonly #child: ChildProcess;
  readonly #session: ProcessSession;
  /** One entry for each entry of a client's queue and each piece of the bridge's own, oldest first. */
  #turns: (ClientRecord | Own)[] = [];
  #ownBytes = 0;
  #isClosed = false;

  constructor(child: ChildProcess, session: ProcessSession) {
    this.#child = child;
    this.#session = session;
  }

  /** The client's queue has one more entry. */
  push(client: ClientRecord): void {
    this.#turns.push(client);
    if (this.#turns.length === 1) this.pump();
  }

  /** Puts the input that the process was started with, of any length, before all other input. */
  begin(bytes: Uint8Array, isEnd: boolean): void {
    if (bytes.length === 0 && !isEnd) return;
    this.#turns.unshift({ rest: bytes, isFirst: true, isEnd });
    this.pump();
  }

  /** Input of the bridge itself, which is not acknowledged to any client. */
  pushOwn(bytes: Uint8Array): void {
    if (this.#isClosed || this.#ownBytes + bytes.length > MAX_OWN_BYTES) return;
    this.#ownBytes += bytes.length;
    this.#turns.push({ rest: bytes });
    if (this.#turns.length === 1) this.pump();
  }

  /** Writes what the process takes now. To be called again when the process takes more. */
  pump(): void {
    let done = 0;
    for (; done < this.#turns.length; done += 1) {
      const client = this.#turns[done];
      if (client !== undefined && "rest" in client) {
        if (!this.#isClosed && !this.#writeOwn(client)) break;
        continue;
      }
      const entry = client?.input.entries[0];
      if (client === undefined || entry === undefined) continue; // Refused bytes settle by themselves.
      if (this.#isClosed) {
        if (entry.kind === "bytes") this.#session.wrote(client, entry.bytes.length);
        else this.#session.appliedEof(client);
      } else if (entry.kind === "bytes") {
        const { bytes } = entry;
        const count = this.#child.write(bytes);
        if (count > 0) this.#session.wrote(client, count);
        if (count < bytes.length) break;
        release(bytes);
      } else if (entry.kind === "eof") {
        if (!this.#child.tty) this.#child.closeStdin();
        else if (!this.#typeEof()) break;
        this.#session.appliedEof(client);
      }
    }
    this.#turns.splice(0, done);
  }

  /** The process takes no more: waiting input counts as taken, so that clients don't wait for ever. */
  close(): void {
    this.#isClosed = true;
    this.#session.closeInput();
    this.pump();
  }

  /** @returns Whether all of it is written. */
  #writeOwn(own: Own): boolean {
    const count = own.rest.length === 0 ? 0 : this.#child.write(own.rest);
    if (own.isFirst !== true) this.#ownBytes -= count;
    own.rest = own.rest.subarray(count);
    if (own.rest.length > 0 || own.isEnd !== true) return own.rest.length === 0;
    if (this.#child.tty) return this.#typeEof();
    this.#child.closeStdin();
    // Later writes are refused with that reason.
    this.#isClosed = true;
    this.#session.closeInput();
    return true;
  }

  /** @returns Whether it is typed, or can't be: the program may have switched the character off. */
  #typeEof(): boolean {
    const character = this.#child.veof();
    return character === 0 || this.#child.write(new Uint8Array([character])) === 1;
  }
}
