// The bridge's end of the inner hop: one Durable Object's connection, which carries all output once, and every client's input
// and messages.

import type { OutputPeer, OutputReader, ReaderMessage } from "../output/output-reader.ts";
import type { SnapshotFrame } from "../output/snapshot-requests.ts";
import type { Frame } from "../server/dialect.ts";
import type { ServerSocket } from "../server/outgoing.ts";
import { nameAnswerer } from "../session/answerer.ts";
import type { ClientRecord } from "../session/client-record.ts";
import { addLink, resumeLink } from "../session/output-sender.ts";
import type { RemotePeer } from "../session/presence.ts";
import type { ProcessSession } from "../session/process-session.ts";
import { CLOSE, SILENCE_MS } from "../wire/constants.ts";
import { parseClientMessage, type ServerMessage } from "../wire/control.ts";
import { defined } from "../wire/fields.ts";
import { decodeStdin } from "../wire/frames.ts";
import { type InnerCommand, type InnerMessage, parseInnerCommand } from "../wire/inner-messages.ts";
import { isPaneOrder } from "../wire/pane-messages.ts";
import { greetingOf, type ProcessFacts } from "./greeting.ts";
import {
  answerQuestion,
  answerWrite,
  type BridgeEnd,
  NO_PROGRAMS,
  type ProgramHost,
  sendMessage,
} from "./program-calls.ts";
import type { Parking } from "./wakeup.ts";

export class InnerServer implements OutputPeer, RemotePeer {
  readonly #end: BridgeEnd;
  readonly #slots = new Map<number, ClientRecord>();
  #link: OutputReader | undefined;
  #parking: Parking | undefined;
  /** Whether `stopping` was sent after the object's last message: it may have parked without receiving it. */
  #isStopLate = false;
  heardAtMs: number;

  constructor(session: ProcessSession, socket: ServerSocket, nowMs: number, programs: ProgramHost = NO_PROGRAMS) {
    this.#end = { session, socket, programs, isClosed: false };
    this.heardAtMs = nowMs;
  }

  /** Greets, and sends all output from `asked` on (absent: from the oldest byte held). */
  open(process: ProcessFacts, asked: number | undefined): void {
    const offset = Math.max(asked ?? 0, this.#end.session.log.startOffset);
    sendMessage(this.#end, greetingOf(this.#end.session, process, offset, this.#end.programs.isMarked));
    const seconds = this.#end.session.secondsLeft;
    if (seconds !== undefined) sendMessage(this.#end, { type: "stopping", seconds });
    this.#link = addLink(this.#end.session.state, offset, this);
    resumeLink(this.#end.session.state, this.#link);
  }

  /** Takes a message. The session owns a binary frame: it keeps a view and releases the memory. */
  receive(frame: Frame, nowMs: number): void {
    this.heardAtMs = nowMs;
    // After a newer connection has replaced this one, its messages must not undo the newer one's.
    if (this.#end.isClosed) return;
    if (typeof frame !== "string") {
      const stdin = decodeStdin(frame);
      const client = stdin === undefined ? undefined : this.#slots.get(stdin.slot);
      // A frame may be for a client that was refused or has just left: its sender is told separately.
      this.#parking = undefined;
      if (stdin !== undefined && client !== undefined) this.#end.session.stdin(client, stdin.bytes, stdin.offset);
      return;
    }
    const result = parseInnerCommand(frame);
    if (!result.ok) {
      if (result.fault !== "unknown_type") this.close(CLOSE.policy, result.detail);
      return; // The Durable Object may be newer.
    }
    this.#command(result.message);
  }

  /** Sends a message of the session to one of this connection's clients. */
  tell(client: string, message: ServerMessage): void {
    if (this.#end.isClosed) return;
    if (message.type === "stdin_ack") sendMessage(this.#end, { type: "stdin_ack", client, offset: message.offset });
    else if (message.type === "error") {
      sendMessage(this.#end, { type: "error", client, code: message.code, message: message.message });
    } else if (message.type === "bye") {
      sendMessage(this.#end, { type: "bye", client, code: message.code, reason: message.reason });
    }
  }

  /** The bridge answers the queries that end before `offset`. Sent before their last bytes. */
  answered(offset: number): void {
    if (!this.#end.isClosed) sendMessage(this.#end, { type: "answered", offset });
  }

  /** Forwards a message to the session object. */
  note(
    message: Extract<
      InnerMessage,
      { type: "command_end" | "panes" | "attention" | "stopping" | "calls" | "title" | "echo" }
    >,
  ): void {
    if (this.#end.isClosed) return;
    if (message.type === "stopping") this.#isStopLate = true;
    sendMessage(this.#end, message);
  }

  /** The socket is writable again. */
  drained(): void {
    if (this.#link !== undefined) resumeLink(this.#end.session.state, this.#link);
  }

  /** The object's `park`, if that was its last message. */
  get parking(): Parking | undefined {
    return this.#parking;
  }

  /** Whether a parked object may not know that the bridge is stopping. */
  get isStopLate(): boolean {
    return this.#isStopLate;
  }

  get silentAtMs(): number {
    return this.heardAtMs + SILENCE_MS;
  }

  close(code: number, reason: string): void {
    if (this.#end.isClosed) return;
    sendMessage(this.#end, { type: "bye", code, reason });
    this.#end.socket.close(code, reason);
    this.closed(code);
  }

  /** The socket has closed. After 1000 the Durable Object has no client left; otherwise it will reconnect. */
  closed(_code: number): void {
    this.#end.isClosed = true;
    if (this.#link !== undefined) this.#end.session.state.links.delete(this.#link);
    this.#link = undefined;
    for (const client of this.#slots.values()) {
      if (!this.#isHere(client)) continue;
      if (this.#parking !== undefined) this.#end.session.park(client, this.#parking.seconds * 1000);
      else this.#end.session.vanish(client, true);
    }
    this.#slots.clear();
  }

  // ---- OutputPeer ----------------------------------------------------------------------------------------------

  send(message: ReaderMessage): void {
    if (message.type === "exit") this.#confirmTaken();
    // They are the same on both hops.
    sendMessage(this.#end, message);
  }

  sendOutput(frame: Uint8Array): void {
    this.#end.socket.send(frame);
  }

  sendSnapshot(): void {
    // The link is never redrawn: the session object requests snapshots itself.
  }

  isWritable(): boolean {
    return this.#end.socket.isWritable();
  }

  // ---- Inside --------------------------------------------------------------------------------------------------

  /** Confirms input of clients that have vanished or not reattached yet. After the exit it would be too late. */
  #confirmTaken(): void {
    for (const client of this.#end.session.clients) {
      if (client.peer !== undefined || this.#isHere(client)) continue;
      sendMessage(this.#end, { type: "stdin_ack", client: client.id, offset: client.input.taken });
    }
  }

  #isHere({ presence }: ClientRecord): boolean {
    return presence.phase === "remote" && presence.peer === this;
  }

  #command(command: InnerCommand): void {
    if (command.type !== "ping") this.#parking = undefined;
    switch (command.type) {
      case "park": {
        const { type: _, ...parking } = command;
        this.#parking = parking;
        this.#isStopLate = false;
        sendMessage(this.#end, { type: "parked" });
        return;
      }
      case "ping":
        sendMessage(this.#end, { type: "pong" });
        return;
      case "attach":
        this.#attach(command);
        return;
      case "stdin_holder":
        this.#end.session.setHolder(command.id, command.alone === true);
        return;
      case "answerer":
        nameAnswerer(this.#end.session.state, { id: command.id, offset: command.offset });
        return;
      case "snapshot":
        this.#end.session.state.snapshots.await((screen) => this.#answerScreen(screen));
        return;
      case "write":
        void answerWrite(this.#end, command);
        return;
      case "ask":
        void answerQuestion(this.#end, command);
        return;
      default: {
        const client = this.#end.session.client(command.client);
        if (client === undefined || client.peer !== undefined) return; // The client left while this was in flight.
        this.#commandOf(client, command);
      }
    }
  }

  #commandOf(
    client: ClientRecord,
    command: Exclude<
      InnerCommand,
      { type: "ping" | "park" | "attach" | "stdin_holder" | "answerer" | "snapshot" | "write" | "ask" }
    >,
  ): void {
    switch (command.type) {
      case "detach":
        // A program that writes is never forgotten, or the bridge might type its input twice.
        if (command.how === "left" && !client.isProgram) this.#end.session.leave(client);
        else this.#end.session.expire(client);
        return;
      case "ack":
        this.#end.session.remoteAck(client, command.offset, command.window);
        return;
      case "eof":
        this.#end.session.command(client, { type: "eof", offset: command.offset });
        return;
      case "signal":
        this.#end.session.command(client, { type: "signal", signal: command.signal });
        return;
      case "resize":
        this.#end.session.command(client, { type: "resize", cols: command.cols, rows: command.rows });
        return;
      case "kill":
        this.#end.session.command(client, { type: "kill" });
        return;
      case "pane": {
        const order = parseClientMessage(command.order);
        if (order.ok && isPaneOrder(order.message)) this.#end.session.command(client, order.message);
      }
    }
  }

  /** The snapshot may be ahead of the output sent, if the socket has not taken all of it. */
  #answerScreen(screen: SnapshotFrame | undefined): void {
    if (this.#end.isClosed) return;
    if (screen === undefined) {
      sendMessage(this.#end, { type: "no_snapshot" });
      return;
    }
    const { offset, cols, rows, isExact, frame } = screen;
    sendMessage(this.#end, { type: "snapshot", offset, cols, rows, exact: isExact });
    this.#end.socket.send(frame);
  }

  #attach(command: Extract<InnerCommand, { type: "attach" }>): void {
    const { cols, rows } = command;
    const result = this.#end.session.attachRemote(
      {
        id: command.client,
        name: command.name,
        role: command.role,
        kind: command.kind,
        isAdmin: command.admin,
        delivery: command.delivery,
        acknowledges: command.acknowledges,
        holdsAlone: command.alone,
        person: command.person,
        login: command.login,
        personName: command.personName,
        acked: command.acked,
        windowBytes: command.window,
        isResume: false,
        resume: "",
        ...defined({ size: cols === undefined || rows === undefined ? undefined : { cols, rows } }),
      },
      this,
    );
    for (const [slot, client] of this.#slots) if (client.id === command.client) this.#slots.delete(slot);
    if (!result.ok) return;
    this.#slots.set(command.slot, result.client);
    // Otherwise input taken between the greeting and this attach would never be confirmed.
    sendMessage(this.#end, { type: "stdin_ack", client: command.client, offset: result.client.input.taken });
  }
}
