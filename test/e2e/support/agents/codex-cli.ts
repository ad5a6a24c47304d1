// `sbx-stdio codex` as its client sees it: a line for each message.
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { type CliChild, startCli } from "../clients/cli.ts";
import type { Person } from "../system/system.ts";
import { until } from "../system/wait.ts";

type Message = {
  id?: number;
  method?: string;
  result?: Record<string, unknown>;
  error?: object;
  params?: Record<string, unknown>;
};

export class CodexCli {
  readonly messages: Message[] = [];
  /** Called for each message, which is not kept then. */
  onMessage: ((message: Message) => boolean) | undefined;
  readonly child: CliChild;
  #lastId = 0;

  constructor(who: Person | undefined, words: readonly string[], origin?: string) {
    this.child = startCli(who, words, "codex", origin);
    onTestFinished(() => void this.child.kill("SIGKILL"));
    createInterface({ input: this.child.stdout }).on("line", (line) => {
      const message = JSON.parse(line) as Message;
      if (this.onMessage?.(message) !== true) this.messages.push(message);
    });
  }

  ask(method: string, params: object): number {
    const id = ++this.#lastId;
    this.child.stdin.write(`${JSON.stringify({ id, method, params })}\n`);
    return id;
  }

  answer(id: number): Promise<Message> {
    return until(`the answer to ${id}`, () => this.messages.find((message) => message.id === id));
  }

  told(method: string): Record<string, unknown>[] {
    return this.messages.flatMap((message) =>
      message.method === method && message.params !== undefined ? [message.params] : [],
    );
  }
}
