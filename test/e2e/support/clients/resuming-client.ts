// A client that comes back until it has the exit, by the words of the contract alone: it counts output, keeps the input
// that is not acknowledged, and goes on where the greeting says.
import { setTimeout as delay } from "node:timers/promises";
import type { Person } from "../system/system.ts";
import { connect, HttpRefusal, type Message, type Params, type TestClient } from "./client.ts";

const FRAME_BYTES = 32 * 1024;
const MAX_UNACKED_BYTES = 256 * 1024;
const RETRY_MS = 50;

export interface ResumedRun {
  readonly output: Buffer;
  readonly exit: Message;
  /** How much output there was at the end of each connection. */
  readonly breaks: readonly number[];
}

export interface ResumingOptions {
  readonly input: Buffer;
  /** Called after each message with how much output there is, and how much of the input is acknowledged. */
  readonly progress?: (output: number, acked: number, client: TestClient) => void;
}

/** Sends all of `input` and its end to the session's process, and receives until its exit. @throws {Error} On a gap. */
export async function runResuming(
  who: Person,
  params: Params & { readonly session: string },
  { input, progress }: ResumingOptions,
): Promise<ResumedRun> {
  const chunks: Buffer[] = [];
  let received = 0;
  let resume: unknown;
  const breaks: number[] = [];
  for (;;) {
    const place: Params = resume === undefined ? {} : { resume: String(resume), offset: received };
    let client: TestClient;
    try {
      client = await connect(who, { ...params, ...place });
    } catch (error) {
      // Nobody answers, or the Worker is just starting.
      if (error instanceof HttpRefusal && error.status < 500) throw error;
      await delay(RETRY_MS);
      continue;
    }
    let taken = 0;
    const collect = () => {
      for (; taken < client.received.length; taken += 1) {
        const one = client.received[taken];
        if (one?.kind !== "output") continue;
        chunks.push(one.bytes);
        received += one.bytes.length;
      }
    };
    try {
      const hello = await client.hello();
      if (hello.offset !== received || hello.gap !== undefined) {
        throw new Error(`Cannot go on at ${received}: ${JSON.stringify(hello)}`);
      }
      resume = hello.resume;
      let sent = Number(hello.stdin);
      let acked = sent;
      let hasEnded = false;
      const exit = await client.until("exit", () => {
        collect();
        for (const { offset } of client.messages("stdin_ack").slice(-1)) acked = Number(offset);
        while (sent < input.length && sent - acked < MAX_UNACKED_BYTES) {
          const frame = input.subarray(sent, sent + FRAME_BYTES);
          client.type(frame);
          sent += frame.length;
        }
        if (sent === input.length && !hasEnded) {
          client.say({ type: "eof", offset: sent });
          hasEnded = true;
        }
        progress?.(received, acked, client);
        return client.messages("exit")[0];
      });
      collect();
      return { output: Buffer.concat(chunks), exit, breaks };
    } catch (error) {
      collect();
      const bye = client.messages("bye")[0];
      const isOver = client.socket.readyState === client.socket.CLOSED && bye?.retry !== "never";
      if (!isOver) throw error;
      breaks.push(received);
      await delay(RETRY_MS);
    }
  }
}
