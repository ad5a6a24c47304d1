// The calls of programs at the bridge's end of the inner hop: types their input, and answers their questions.

import { followWrite, type WriteAnswer, type WritePorts } from "../programs/program-writes.ts";
import type { ClientRecord } from "../session/client-record.ts";
import type { ProcessSession } from "../session/process-session.ts";
import { MAX_FRAME_BYTES } from "../wire/constants.ts";
import { defined } from "../wire/fields.ts";
import { encodeAnswer } from "../wire/frames.ts";
import type { InnerCommand, InnerMessage, Question } from "../wire/inner-messages.ts";
import type { InputModes, WriteCommand } from "../wire/write-messages.ts";

/** Questions of programs beyond the session: about the terminal, and about a shell's commands. */
export interface ProgramPorts {
  /** The modes that the process has set on its terminal; undefined on pipes. */
  modes(): InputModes | undefined | Promise<InputModes | undefined>;
  /** JSON in UTF-8; undefined where there is no answer. */
  answer(question: Question): Uint8Array | undefined | Promise<Uint8Array | undefined>;
  /** Whether a shell has marked its commands so far. */
  readonly isMarked: boolean;
  /** A program has called: the session is not deserted. */
  called(): void;
}

/** The connection on which the calls came. */
export interface ProgramConnection {
  say(message: InnerMessage): void;
  sendAnswer(frame: Uint8Array): void;
  isClosed(): boolean;
}

const NO_PORTS: ProgramPorts = {
  modes: () => undefined,
  answer: () => undefined,
  isMarked: false,
  called: () => undefined,
};

/** Of an answer in one message: a frame of full length with its header (F5). */
const ANSWER_PIECE_BYTES = MAX_FRAME_BYTES - 8;

export class ProgramService {
  readonly #session: ProcessSession;
  readonly #ports: ProgramPorts;
  readonly #connection: ProgramConnection;

  constructor(session: ProcessSession, ports: ProgramPorts = NO_PORTS, connection: ProgramConnection) {
    this.#session = session;
    this.#ports = ports;
    this.#connection = connection;
  }

  get isMarked(): boolean {
    return this.#ports.isMarked;
  }

  async write(command: Extract<InnerCommand, { type: "write" }>): Promise<void> {
    this.#ports.called();
    const session = this.#session;
    const ports: WritePorts<ClientRecord> = {
      client: (id) => {
        const client = session.client(id);
        return client?.isProgram === true ? client : undefined;
      },
      modes: () => this.#ports.modes(),
      outputEnd: () => session.log.endOffset,
      plan: (client, request) => session.planWrite(client, request),
      type: (client, bytes, eof) => session.typePlanned(client, bytes, eof),
    };
    await followWrite(command, ports, (answer) => {
      if (!this.#connection.isClosed()) this.#connection.say(writeMessage(command, answer));
    });
  }

  async answer(question: Extract<InnerCommand, { type: "ask" }>): Promise<void> {
    const { id } = question;
    const text = await this.#ports.answer(question);
    if (this.#connection.isClosed()) return;
    for (let at = 0; text !== undefined && at < text.length; at += ANSWER_PIECE_BYTES) {
      this.#connection.sendAnswer(encodeAnswer(id, text.subarray(at, at + ANSWER_PIECE_BYTES)));
    }
    this.#connection.say({ type: "answer", id, ok: text !== undefined });
  }
}

function writeMessage({ client, at }: WriteCommand, answer: WriteAnswer): InnerMessage {
  switch (answer.kind) {
    case "written": {
      const { from, to, output, modes } = answer;
      return { type: "written", client, from, to, output, ...defined({ modes }) };
    }
    case "duplicate": {
      const { to, last } = answer;
      const known = defined({ last: last?.to, modes: last?.modes });
      return { type: "written", client, from: at, to, output: 0, duplicate: true, ...known };
    }
    case "refused": {
      const { code, message, expected, holder } = answer;
      return { type: "unwritten", client, code, ...defined({ message, expected, holder }) };
    }
  }
}
