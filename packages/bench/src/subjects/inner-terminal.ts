// A terminal at the bridge as a session object is one, at its least: the inner hop, and one client on it. What the object adds, a copy
// of the log, the record, other clients, is measured on the whole path.

import {
  encodeStdin,
  INNER_PROTOCOL,
  MAX_FRAME_BYTES,
  MAX_UNACKED_INPUT_BYTES,
  MAX_WINDOW_BYTES,
  PING_INTERVAL_MS,
} from "sandbox-stdio/core";
import WebSocket from "ws";

/** As a session object relays acknowledgements (W9). */
const ACK_BYTES = Math.min(2 * MAX_FRAME_BYTES, MAX_WINDOW_BYTES / 4);
const STDOUT = 1;
const CLIENT = "bench";
const SLOT = 0;

type Told = {
  readonly type: string;
  readonly offset?: number;
  readonly inputWindow?: number;
  readonly reason?: string;
};

export type InnerTerminal = {
  send(bytes: Uint8Array): void;
  pause(): void;
  resume(): void;
  close(): void;
};

/** @param query As of a client's attach. @param output Given each piece of output. @returns Once its client is attached. */
export function openInner(
  url: string,
  headers: Readonly<Record<string, string>>,
  query: URLSearchParams,
  output: (bytes: Uint8Array) => void,
): Promise<InnerTerminal> {
  const socket = new WebSocket(`${url}/attach?${query}`, [INNER_PROTOCOL], { headers, perMessageDeflate: false });
  const say = (message: object) => socket.send(JSON.stringify(message));
  let came = 0;
  let acked = 0;
  let isPaused = false;
  let typed = 0;
  let taken = 0;
  let room = MAX_UNACKED_INPUT_BYTES;
  const waiting: Uint8Array[] = [];

  const acknowledge = () => {
    if (isPaused || came - acked < ACK_BYTES) return;
    acked = came;
    say({ type: "ack", client: CLIENT, offset: came, window: MAX_WINDOW_BYTES });
  };
  /** Types what the bridge has room for. */
  const type = () => {
    for (let bytes = waiting[0]; bytes !== undefined && typed + bytes.length - taken <= room; bytes = waiting[0]) {
      waiting.shift();
      socket.send(encodeStdin(SLOT, typed, bytes));
      typed += bytes.length;
    }
  };
  const begin = ({ inputWindow = room }: Told) => {
    room = inputWindow;
    const who = {
      slot: SLOT,
      name: "",
      role: "driver",
      kind: "person",
      admin: false,
      delivery: "live",
      acknowledges: true,
    };
    say({ type: "attach", client: CLIENT, ...who, acked: 0, window: MAX_WINDOW_BYTES });
    say({ type: "answerer", id: CLIENT, offset: 0 });
  };
  const pings = setInterval(() => say({ type: "ping" }), PING_INTERVAL_MS);
  const terminal: InnerTerminal = {
    send: (bytes) => {
      waiting.push(bytes);
      type();
    },
    pause: () => {
      isPaused = true;
      socket.pause();
    },
    resume: () => {
      isPaused = false;
      socket.resume();
      acknowledge();
    },
    close: () => {
      clearInterval(pings);
      say({ type: "kill", client: CLIENT });
      socket.close(1000);
    },
  };
  return new Promise((resolve, reject) => {
    socket.on("message", (data: Buffer, isBinary) => {
      if (isBinary) {
        if (data[0] !== STDOUT) return; // The terminals that are measured have no other stream.
        came += data.length - 1;
        output(data.subarray(1));
        acknowledge();
        return;
      }
      const told = JSON.parse(String(data)) as Told;
      if (told.type === "hello") {
        begin(told);
        resolve(terminal);
      } else if (told.type === "stdin_ack") {
        taken = told.offset ?? taken;
        type();
      } else if (told.type === "bye") reject(new Error(told.reason));
    });
    socket.on("error", reject);
    socket.on("close", () => clearInterval(pings));
  });
}
