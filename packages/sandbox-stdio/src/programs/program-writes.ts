// A call to *write* where the process is (W1 to W4): encodes, decides and queues, whole or not at all. Remembers each
// writer's last, so that the Durable Object may ask again over a new hop.

import { defined } from "../wire/fields.ts";
import type { InputModes, WriteCommand, Written } from "../wire/write-messages.ts";
import { encodeWrite, needsModes } from "./encode-write.ts";
import type { WritePlan, WriteRequest } from "./writers.ts";

/** So much of one program's input may wait for a process that does not read; then a write is refused. */
const MAX_WAITING_WRITE_BYTES = 256 * 1024;

export type LastWrite = Written & { readonly at: number };

export type WriteCode =
  | Extract<WritePlan, { kind: "refuse" }>["code"]
  | "bad_key"
  | "bad_paste"
  | "no_terminal"
  | "too_many_writers"
  | "too_much_input";

export type WriteAnswer =
  | ({ readonly kind: "written" } & Written)
  /** `modes`: by which it was encoded the first time, if it was the writer's last; `to` is the writer's count. */
  | { readonly kind: "duplicate"; readonly to: number; readonly last?: Written | undefined }
  | {
      readonly kind: "refused";
      readonly code: WriteCode;
      readonly message?: string | undefined;
      readonly expected?: number | undefined;
      readonly holder?: string | undefined;
    };

/** The parts of a client that a write uses: how much of its input waits, and its last write, which is set here. */
export interface Writer {
  readonly input: { readonly queuedBytes: number };
  lastWrite: LastWrite | undefined;
}

/** The parts that a write uses of the session, and of the terminal beside the process. */
export interface WritePorts<Client extends Writer> {
  client(id: string): Client | undefined;
  /** Undefined on pipes. */
  modes(): InputModes | undefined | Promise<InputModes | undefined>;
  /** Where the log ends now. */
  outputEnd(): number;
  plan(client: Client, request: WriteRequest): WritePlan;
  /** Queues the planned bytes, which are the queue's from here on. */
  type(client: Client, bytes: Uint8Array, eof: boolean): void;
}

/** @param answer Called before the bytes are typed: reports of taken bytes come after it. */
export async function followWrite<Client extends Writer>(
  command: WriteCommand,
  ports: WritePorts<Client>,
  answer: (answer: WriteAnswer) => void,
): Promise<void> {
  const modes = needsModes(command) ? await ports.modes() : undefined;
  // It may have gone while the terminal was asked.
  const client = ports.client(command.client);
  if (client === undefined) {
    answer({ kind: "refused", code: "too_many_writers" });
    return;
  }
  const { at, again, eof = false } = command;
  const last = client.lastWrite?.at === at ? client.lastWrite : undefined;
  if (again === true && last !== undefined) {
    answer({ kind: "written", ...last });
    return;
  }
  const encoded = encodeWrite(command, modes);
  // A repetition gets the answer `duplicate`, even with another body.
  const length = encoded.ok ? encoded.bytes.length : 0;
  const plan = ports.plan(client, { length, eof, at });
  if (plan.kind === "duplicate") {
    answer({ kind: "duplicate", to: plan.to, last });
    return;
  }
  if (!encoded.ok) {
    answer({ kind: "refused", code: encoded.code, message: encoded.message });
    return;
  }
  if (plan.kind === "refuse") {
    const { kind: _, ...why } = plan;
    answer({ kind: "refused", ...why });
    return;
  }
  if (client.input.queuedBytes > 0 && client.input.queuedBytes + length > MAX_WAITING_WRITE_BYTES) {
    answer({ kind: "refused", code: "too_much_input" });
    return;
  }
  const written = defined({ from: plan.from, to: plan.to, output: ports.outputEnd(), modes });
  client.lastWrite = { at, ...written };
  answer({ kind: "written", ...written });
  ports.type(client, encoded.bytes, eof);
}
