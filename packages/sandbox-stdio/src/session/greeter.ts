// Attaches clients that are sent to directly, and greets them: at once, when their snapshot is there, or when the bridge
// holds the process for them.

import type { SnapshotFrame, SnapshotRequests } from "../output/snapshot-requests.ts";
import { FIRST_WINDOW_BYTES } from "../output/window.ts";
import type { PanesMessage } from "../wire/pane-messages.ts";
import type { AnswererChoice } from "./answerer-choice.ts";
import { type AttachContext, helloOf, inputStartOf, needsScreen, refusalOf, startOf } from "./attach-rules.ts";
import type { Attendance } from "./attendance.ts";
import type { ClientRecord } from "./client-record.ts";
import type { InputReceiver } from "./input-receiver.ts";
import type { InputRecorder } from "./input-recorder.ts";
import type { OutputSender } from "./output-sender.ts";
import type { Greeted, Opening, Peer } from "./presence.ts";
import type { AttachRequest, AttachResult } from "./session-types.ts";

export interface GreeterPorts {
  readonly attendance: Attendance;
  readonly answererChoice: AnswererChoice;
  readonly inputReceiver: InputReceiver;
  readonly outputSender: OutputSender;
  readonly snapshots: SnapshotRequests;
  readonly recorder: InputRecorder | undefined;
  readonly now: () => number;
  /** The parts that the client attaches to, as they are now. */
  context(): AttachContext;
  /** Whether the client's greeting must wait until the process is held for it. */
  needsHold(client: ClientRecord): boolean;
  /** @see SessionCore.panes */
  panes(): PanesMessage | undefined;
  /** @see SessionCore.secondsLeft */
  secondsLeft(): number | undefined;
}

export class Greeter {
  readonly #ports: GreeterPorts;

  constructor(ports: GreeterPorts) {
    this.#ports = ports;
  }

  /** @see SessionCore.attach */
  attach(request: AttachRequest, peer: Peer): AttachResult {
    const { attendance, answererChoice, snapshots } = this.#ports;
    const context = this.#ports.context();
    const refusal = refusalOf(request, context.clients.get(request.id), context);
    if (refusal !== undefined) return refusal;
    const usual = context.facts.tty ? "live" : "lossless";
    const delivery = request.role === "viewer" ? "live" : (request.delivery ?? usual);
    const acked = startOf(request, undefined, context.log);
    const opening: Opening = { phase: "opening", peer, acked, windowBytes: FIRST_WINDOW_BYTES };
    const client = attendance.admit({ ...request, delivery }, opening);
    const greet = (screen?: SnapshotFrame) => {
      // It may have left meanwhile, or come back with another connection.
      if (client.presence === opening) this.#greet(client, peer, request, screen);
    };
    if (snapshots.isPossible && needsScreen(request, this.#ports.context())) snapshots.await(greet);
    else if (this.#ports.needsHold(client)) opening.hold = { greet, sinceMs: this.#ports.now() };
    else greet();
    if (client.presence === opening) answererChoice.choose();
    return { ok: true, client };
  }

  #greet(client: ClientRecord, peer: Peer, request: AttachRequest, screen: SnapshotFrame | undefined): void {
    const { answererChoice, inputReceiver, outputSender, recorder } = this.#ports;
    const { facts, log } = this.#ports.context();
    const reader = outputSender.readerAt(startOf(request, screen, log), client, peer, screen);
    const settled = inputReceiver.settled(client);
    const inputStart = inputStartOf(request, client, settled);
    const inputAcks = { sent: settled, dueMs: undefined };
    const greeting: Greeted = { phase: "greeting", peer, reader, inputStart, inputAcks };
    client.presence = greeting;
    answererChoice.choose();
    peer.send(helloOf(client, request, greeting, screen, this.#ports.context()));
    // Another life of this client may have asked for that.
    if (recorder?.isSecret(client.id) === true) peer.send({ type: "secret", on: true });
    const seconds = this.#ports.secondsLeft();
    if (seconds !== undefined && client.acknowledges) peer.send({ type: "stopping", seconds });
    const panes = this.#ports.panes();
    if (panes !== undefined && client.acknowledges) peer.send(panes);
    greeting.phase = "greeted";
    outputSender.start(client, reader, screen, facts.tty);
  }
}
