// Applies the bridge's messages about the process, the keyboard and single clients to the relay session.

import type { RelaySession } from "../session/relay-session.ts";
import { defined } from "../wire/fields.ts";
import type { InnerMessage } from "../wire/inner-messages.ts";

/** Messages that concern only the session; the others are about the connection or calls. */
export type SessionMessage = Extract<
  InnerMessage,
  {
    type:
      | "resize"
      | "exit"
      | "output_end"
      | "answered"
      | "stdin_ack"
      | "error"
      | "command_end"
      | "panes"
      | "attention"
      | "stopping"
      | "title"
      | "echo"
      | "no_snapshot";
  }
>;

export function followBridge(session: RelaySession, message: SessionMessage): void {
  switch (message.type) {
    case "resize":
      session.setSize({ cols: message.cols, rows: message.rows });
      return;
    case "exit": {
      const { code, signal } = message;
      session.exited({ code, ...defined({ signal }) });
      return;
    }
    case "output_end":
      session.outputEnded();
      return;
    case "answered":
      session.bridgeAnswered(message.offset);
      return;
    case "stdin_ack": {
      const client = session.client(message.client);
      if (client === undefined) return;
      // The first one after an attach is also its answer.
      session.attachAnswered(client);
      session.confirmInput(client, message.offset);
      return;
    }
    case "error": {
      const client = session.client(message.client);
      // Later connections are told too, before they send a window of input in vain (L10b).
      if (client !== undefined && message.code === "stdin_closed") client.wasToldClosed = true;
      client?.peer?.send({ type: "error", code: message.code, message: message.message });
      return;
    }
    case "command_end":
      session.commandEnded({ to: message.to, ...defined({ exit: message.exit }) });
      return;
    case "panes":
      session.tellPanes(message);
      return;
    case "attention": {
      const { type, ...attention } = message;
      session.attention(attention);
      return;
    }
    case "stopping":
      session.stopping(message.seconds);
      return;
    case "title":
      session.title = message.title;
      return;
    case "echo":
      session.echoes(message.on, message.offset);
      return;
    case "no_snapshot":
      session.snapshotReady(undefined);
  }
}
