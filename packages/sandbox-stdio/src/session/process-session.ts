// The session in the bridge: feeds the process, decides its size and whether it is held, and serves the session object.

import { InputQueue } from "../input/input-queue.ts";
import { MAX_WRITERS } from "../programs/writers.ts";
import { CLOSE } from "../wire/constants.ts";
import type { ExitStatus } from "../wire/control.ts";
import type { Delivery } from "../wire/terms.ts";
import { chooseAnswerer } from "./answerer.ts";
import { admit, expire, park, setHolder } from "./attendance.ts";
import { takeEof, takeInput } from "./client-input.ts";
import type { ClientRecord, TerminalSize } from "./client-record.ts";
import type { RemotePeer } from "./presence.ts";
import { earlier, SessionCore } from "./session-core.ts";
import type { SessionState } from "./session-state.ts";
import type { AttachRequest, AttachResult, SessionOptions } from "./session-types.ts";
import { UnattendedBudget } from "./unattended-budget.ts";

/** A client attached by the Durable Object. */
export type RemoteRequest = AttachRequest & {
  readonly delivery: Delivery;
  readonly acked: number;
  readonly windowBytes: number;
};

export class ProcessSession extends SessionCore {
  /** The size last requested of the process: the one that fits the clients. */
  #size: TerminalSize;
  #uses = 1;
  readonly #unattended: UnattendedBudget;

  constructor(options: SessionOptions) {
    super(options);
    const rate = options.unattendedBytesPerSecond ?? Number.POSITIVE_INFINITY;
    this.#unattended = new UnattendedBudget(rate, this.log.endOffset, this.state.now());
    this.#size = this.log.sizeAt(this.log.endOffset);
  }

  // ---- The far end of the inner hop ----------------------------------------------------------------------------

  /** Attaches a client of the Durable Object. Its output goes through the link, everything else through `peer`. */
  attachRemote(request: RemoteRequest, peer: RemotePeer): AttachResult {
    const old = this.state.clients.get(request.id);
    if (request.kind === "program" && old === undefined && this.state.clients.programCount >= MAX_WRITERS) {
      return { ok: false, code: CLOSE.tooMany, reason: "too many writers", retry: "never" };
    }
    // Don't take the greater of this and the known offset: a client that returns with an empty screen starts over.
    const { acked, windowBytes } = request;
    const inputAcks = { sent: old?.input.taken ?? 0, dueMs: undefined };
    const client = admit(this.state, request, { phase: "remote", peer, acked, windowBytes, inputAcks });
    chooseAnswerer(this.state);
    if (old === undefined) this.#noteUse(client);
    return { ok: true, client };
  }

  /** The client's grace period at the Durable Object has passed. */
  expire(client: ClientRecord): void {
    expire(this.state, client);
  }

  /** The Durable Object has parked: it will return with this client, and other clients are not told. */
  park(client: ClientRecord, graceMs: number): void {
    park(this.state, client, graceMs);
  }

  /** A client of the Durable Object has processed output before `offset`, and has this window. */
  remoteAck(client: ClientRecord, offset: number, windowBytes: number): void {
    client.isActive = true;
    const { presence } = client;
    if (presence.phase !== "remote") return;
    presence.acked = Math.max(presence.acked, Math.min(offset, this.log.endOffset));
    presence.windowBytes = windowBytes;
  }

  /** The Durable Object reports the holder of the keyboard. An unknown holder id means free. */
  setHolder(id: string, isLent = false): void {
    setHolder(this.state, id, isLent);
  }

  // ---- The process ---------------------------------------------------------------------------------------------

  /** The process has ended and its last byte is in the log. */
  exited(status: ExitStatus): void {
    // The final screen stays available as long as the session is kept.
    if (this.setEnding(status)) this.state.snapshots.ended();
  }

  /** The first `count` bytes of the client's oldest entry were written to the process. */
  wrote(client: ClientRecord, count: number): void {
    takeInput(this.state, client, count);
    this.#noteUse(client);
  }

  /** The client's oldest entry, an end of input, has reached the process. */
  appliedEof(client: ClientRecord): void {
    takeEof(this.state, client);
  }

  /** The process reports its size (B2c), which applies to the output that follows. */
  sized({ cols, rows }: TerminalSize): void {
    if (this.exit !== undefined) return;
    this.log.markSize(cols, rows);
    this.appended();
  }

  /** The process takes no more input: it has exited or closed its end. Waiting input is refused. */
  closeInput(): void {
    this.state.isInputClosed = true;
  }

  /** Whether to hold the process. Checked after output and acknowledgements, and whenever a client comes or goes. */
  get shouldHold(): boolean {
    // While a snapshot is made, the log must not run ahead of it.
    return this.pace.shouldHold || this.state.snapshots.isPending || this.#isBudgetSpent();
  }

  override get nextTickMs(): number | undefined {
    return earlier(super.nextTickMs, this.#unattended.nextMs);
  }

  /** Whether the process has no reader and has written enough for now. */
  #isBudgetSpent(): boolean {
    const { endOffset } = this.log;
    if (!this.hasEnded && this.state.links.size === 0 && this.flowLeader === undefined) {
      return this.#unattended.isSpent(endOffset, this.state.now());
    }
    this.#unattended.attended(endOffset);
    return false;
  }

  // ---- Hop: see session-state.ts --------------------------------------------------------------------------------

  override get holdsForSnapshots(): boolean {
    return true;
  }

  override get repeatsEof(): boolean {
    return false;
  }

  override newInput(): InputQueue {
    return new InputQueue("process");
  }

  override resizeWindow(client: ClientRecord, size: TerminalSize): void {
    // Each new connection repeats the size.
    const isNew = client.size?.cols !== size.cols || client.size.rows !== size.rows;
    client.size = size;
    if (isNew) this.#noteUse(client);
    this.#fitSize();
  }

  override membersChanged(): void {
    this.#fitSize();
  }

  override keyboardMoved(): void {
    this.#fitSize();
  }

  override asked(): void {
    // Programs ask at the session object.
  }

  override inputSettled(): void {
    // A call that waits for a program's input is told over the inner hop.
  }

  override greetsOnceHeld(): boolean {
    return false; // The bridge holds the process whenever it must.
  }

  override get knownEnd(): number {
    return this.log.endOffset;
  }

  /** The client types, arrives or resizes: among its person's windows it now counts (K4a). */
  #noteUse(client: ClientRecord): void {
    if (client.person === undefined || client.lastUse === this.#uses) return;
    client.lastUse = ++this.#uses;
    this.#fitSize();
  }

  /** Gives the PTY the size that fits the present clients. */
  #fitSize(): void {
    if (!this.facts.tty || this.exit !== undefined) return;
    const fitted = fittedSize(this.state);
    if (fitted === undefined || (fitted.cols === this.#size.cols && fitted.rows === this.#size.rows)) return;
    this.#size = fitted;
    this.state.upstream.resize(undefined, fitted);
    if (this.facts.tellsSize === true) return;
    this.log.markSize(fitted.cols, fitted.rows);
    this.appended();
  }
}

/**
 * Exclusive: the holder's size. Collaborative: the smallest among the drivers that gave a size, with only the last used of a
 * person's windows. undefined if no client gave a size.
 */
function fittedSize({ clients, keyboard, facts }: SessionState): TerminalSize | undefined {
  const drivers = [...clients.present()].filter(({ role, size }) => role === "driver" && size !== undefined);
  const isOutdated = ({ person, lastUse }: ClientRecord) =>
    person !== undefined && drivers.some((other) => other.person === person && other.lastUse > lastUse);
  let fitted: TerminalSize | undefined;
  for (const client of drivers) {
    const { id, size } = client;
    if (size === undefined) continue;
    if (facts.mode === "exclusive" ? id !== keyboard.holder : isOutdated(client)) continue;
    fitted = {
      cols: Math.min(fitted?.cols ?? size.cols, size.cols),
      rows: Math.min(fitted?.rows ?? size.rows, size.rows),
    };
  }
  return fitted;
}
