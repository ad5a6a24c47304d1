// The commands of clients in text, and the news of them for all clients.

import type { ClientMessage } from "../wire/control.ts";
import type { ClientRecord, TerminalSize } from "./client-record.ts";
import type { Clients } from "./clients.ts";
import type { InputReceiver } from "./input-receiver.ts";
import type { InputRecorder } from "./input-recorder.ts";
import type { Keyboard, KeyboardResult } from "./keyboard.ts";
import type { OutputSender } from "./output-sender.ts";
import type { Upstream } from "./session-types.ts";

const NO_INPUT = "a viewer has no input to keep secret";
const NOT_SECRET = "secret input is switched off here: it is recorded like all other";

export interface ClientCommandsPorts {
  readonly clients: Clients;
  readonly keyboard: Keyboard;
  readonly inputReceiver: InputReceiver;
  readonly outputSender: OutputSender;
  readonly recorder: InputRecorder | undefined;
  readonly upstream: Upstream;
  /** The first driver that ever attached; "" before that. */
  readonly creator: () => string;
  /** The client's window has another size. */
  resize(client: ClientRecord, size: TerminalSize): void;
  /** Another client holds the keyboard, or it is free. All clients have been told. */
  keyboardMoved(): void;
}

export class ClientCommands {
  readonly #ports: ClientCommandsPorts;

  constructor(ports: ClientCommandsPorts) {
    this.#ports = ports;
  }

  /** @see SessionCore.command */
  follow(client: ClientRecord, message: ClientMessage): void {
    const { keyboard, inputReceiver, outputSender, upstream } = this.#ports;
    switch (message.type) {
      case "resize":
        if (message.pane !== undefined) {
          const { pane, cols, rows } = message;
          if (inputReceiver.mayDrive(client)) upstream.pane(client, { type: "resize", pane, cols, rows });
          return;
        }
        client.size = { cols: message.cols, rows: message.rows };
        this.#ports.resize(client, client.size);
        return;
      case "signal":
        if (inputReceiver.mayDrive(client)) upstream.signal(client, message.signal);
        return;
      case "kill":
        if (inputReceiver.mayDrive(client)) upstream.kill(client);
        return;
      case "stdin":
        inputReceiver.pane(client, message);
        return;
      case "pane":
        if (inputReceiver.mayDrive(client)) upstream.pane(client, message);
        return;
      case "eof":
        inputReceiver.eof(client, message.offset ?? client.input.received);
        return;
      case "ack":
        outputSender.ack(client, message.offset);
        return;
      case "request_stdin":
        this.#request(client);
        return;
      case "release_stdin":
        this.#conclude(client, keyboard.release(client.id));
        return;
      case "grant_stdin":
        this.#conclude(client, keyboard.grant(client.id, message.to));
        return;
      case "force_take":
        this.#conclude(client, keyboard.forceTake(client.id, this.#isDeserted(client)));
        return;
      case "secret":
        this.#setSecret(client, message.on);
        return;
      case "ping":
      case "auth":
        return;
    }
  }

  /** Takes over the holder of the keyboard from the other end of the inner hop. An unknown holder id means free. */
  setHolder(told: string): void {
    const { keyboard, clients } = this.#ports;
    const id = clients.has(told) ? told : "";
    if (keyboard.holder === id) return;
    keyboard.setHolder(id);
    this.announceHolder();
  }

  announceHolder(): void {
    const { clients, keyboard, upstream } = this.#ports;
    clients.tellAll({ type: "stdin_holder", id: keyboard.holder });
    upstream.holder(keyboard.holder);
    this.#ports.keyboardMoved();
  }

  /** Whether a holder that has vanished keeps the keyboard from the session's creator (K2e). */
  #isDeserted(client: ClientRecord): boolean {
    const { clients, keyboard, creator } = this.#ports;
    return client.id === creator() && clients.get(keyboard.holder)?.presence.phase === "vanished";
  }

  #request(client: ClientRecord): void {
    const { keyboard, clients } = this.#ports;
    const result = keyboard.request(client.id);
    if (result.ok && result.isTaken) clients.tellAll({ type: "stdin_request", id: client.id });
    else this.#conclude(client, result);
  }

  #conclude(client: ClientRecord, result: KeyboardResult): void {
    if (result.ok) {
      this.announceHolder();
      return;
    }
    const code = result.fault === "viewer" ? "not_allowed" : result.fault;
    client.tell({ type: "error", code, message: code.replaceAll("_", " ") });
  }

  #setSecret(client: ClientRecord, on: boolean): void {
    if (client.role === "viewer") client.tell({ type: "error", code: "not_allowed", message: NO_INPUT });
    else if (this.#ports.recorder?.setSecret(client.id, on) === false) {
      client.tell({ type: "error", code: "not_allowed", message: NOT_SECRET });
      client.tell({ type: "secret", on: false });
    }
  }
}
