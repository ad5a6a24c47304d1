// Commands to the bridge that follow from the clients' state: sent on each change, and again after each greeting.

import type { InputEntry } from "../input/input-queue.ts";
import type { ClientRecord } from "../session/client-record.ts";
import type { Answerer } from "../terminal/answerer-history.ts";
import { defined } from "../wire/fields.ts";
import { encodeStdin } from "../wire/frames.ts";
import { type HopState, sendCommand } from "./hop-state.ts";
import { noteAttached, relayLeader } from "./relayed-acks.ts";
import { confirmArrival } from "./unanswered.ts";

export function sendAttach(hop: HopState, client: ClientRecord): void {
  const slot = hop.nextSlot++;
  hop.slots.set(client.id, slot);
  noteAttached(hop, client);
  sendCommand(hop, {
    type: "attach",
    client: client.id,
    slot,
    name: client.name,
    role: client.role,
    kind: client.kind,
    admin: client.isAdmin,
    delivery: client.delivery,
    acknowledges: client.acknowledges,
    ...defined({ alone: client.holdsAlone || undefined, person: client.person }),
    ...defined({ login: client.login, personName: client.personName }),
    acked: client.acked,
    window: client.windowBytes,
    ...client.size,
  });
}

export function sendInput(hop: HopState, client: ClientRecord, entry: InputEntry): void {
  const slot = hop.slots.get(client.id);
  if (!hop.isReady || slot === undefined) return; // Stays in the queue until the hop is back.
  if (entry.kind === "eof") sendCommand(hop, { type: "eof", client: client.id, offset: entry.end });
  else {
    hop.isParkLast = false;
    // An empty frame at an offset ahead makes the bridge count the bytes before it as refused.
    const frame =
      entry.kind === "bytes" ? ([entry.start, entry.bytes] as const) : ([entry.end, new Uint8Array(0)] as const);
    hop.socket?.send(encodeStdin(slot, ...frame));
  }
}

export function sendHolder(hop: HopState, id: string): void {
  if (!hop.isReady) return;
  const { session } = hop;
  const isLent = session?.keyboard.isLent === true && session.keyboard.holder === id;
  // A viewer has it by loan only (K15), also when it had it before another.
  const alone = isLent || session?.client(id)?.role === "viewer" || undefined;
  sendCommand(hop, { type: "stdin_holder", id, ...defined({ alone }) });
  relayLeader(hop);
}

/** @returns Whether the bridge will confirm it: see `RelaySession.bridgeHears`. */
export function sendAnswerer(hop: HopState, { id, offset }: Answerer): boolean {
  if (!hop.isReady) return false; // Sent after the next greeting.
  sendCommand(hop, { type: "answerer", id, offset });
  const isAwaited = id === "";
  if (isAwaited) confirmArrival(hop, () => hop.session?.bridgeHears());
  return isAwaited;
}
