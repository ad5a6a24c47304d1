// A client of codex' exec-server without a library: says what it is told to, and keeps what it hears.
import { onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { api, type Person, person, system } from "../system/system.ts";
import { until, within } from "../system/wait.ts";

export type Answer = {
  readonly id: number;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string };
};
export type Chunk = { readonly seq: number; readonly stream: string; readonly chunk: string };
type Notification = { readonly method: string; readonly params: Record<string, unknown> };

/** A ticket's address, as the API gives it, at the system's own port. */
export async function codexUrl(who: Person, sandbox: string, body: object = {}): Promise<{ id: string; url: string }> {
  const init = { method: "POST", body: JSON.stringify(body) };
  const response = await api(who, `/api/sandboxes/${sandbox}/codex-ticket`, init);
  if (!response.ok) throw new Error(`status ${response.status}: ${await response.text()}`);
  return (await response.json()) as { id: string; url: string };
}

export class RawCodex {
  readonly socket: WebSocket;
  readonly answers: Answer[] = [];
  readonly notifications: Notification[] = [];
  /** Called for each notification, of which no output is kept then. */
  onNotification: ((notification: Notification) => void) | undefined;
  readonly closed: Promise<{ code: number; reason: string }>;
  #lastId = 0;
  #wake: () => void = () => undefined;

  constructor(url: string, headers: Record<string, string> = {}) {
    this.socket = new WebSocket(url, { headers });
    this.socket.on("message", (data) => {
      const message = JSON.parse(String(data)) as Answer & Notification;
      if (message.method === undefined) this.answers.push(message);
      else {
        this.onNotification?.(message);
        if (this.onNotification === undefined || message.method !== "process/output") this.notifications.push(message);
      }
      this.#wake();
    });
    this.closed = new Promise((resolve) => {
      this.socket.on("close", (code, reason) => resolve({ code, reason: String(reason) }));
    });
    this.socket.on("error", () => undefined);
    onTestFinished(() => this.socket.terminate());
  }

  /** The HTTP status of an upgrade that is refused; 101 where it is not. */
  static status(url: string, headers: Record<string, string> = {}): Promise<number> {
    return new Promise((resolve) => {
      const socket = new WebSocket(url, { headers });
      socket.on("unexpected-response", (_, response) => resolve(response.statusCode ?? 0));
      socket.on("open", () => {
        socket.terminate();
        resolve(101);
      });
      socket.on("error", () => undefined);
    });
  }

  static async open(url: string, headers: Record<string, string> = {}): Promise<RawCodex> {
    const client = new RawCodex(url, headers);
    const opened = new Promise((resolve) => client.socket.once("open", resolve));
    const failed = client.closed.then(({ code }) => Promise.reject(new Error(`closed with ${code}`)));
    failed.catch(() => undefined);
    await within("the upgrade", Promise.race([opened, failed]));
    return client;
  }

  /** Connected and initialized, by a ticket of somebody new unless `who` is given. */
  static async begin(sandbox: string, who?: Person, resume: string | null = null): Promise<RawCodex & { id: string }> {
    const { url } = await codexUrl(who ?? (await person()), sandbox);
    const client = await RawCodex.open(url);
    const { result } = await client.call("initialize", { clientName: "test", resumeSessionId: resume });
    client.say({ method: "initialized", params: {} });
    return Object.assign(client, { id: String(result?.sessionId) });
  }

  say(message: object | string): void {
    this.socket.send(typeof message === "string" ? message : JSON.stringify(message));
  }

  async call(method: string, params: object): Promise<Answer> {
    const id = ++this.#lastId;
    this.say({ id, method, params });
    return until(`the answer to ${method}`, () => this.answers.find((answer) => answer.id === id));
  }

  /** @throws {Error} Where it is an error. */
  async result(method: string, params: object): Promise<Record<string, unknown>> {
    const { result, error } = await this.call(method, params);
    if (result === undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  }

  async start(processId: string, script: string, more: object = {}): Promise<Answer> {
    const params = { processId, argv: ["/bin/bash", "-c", script], cwd: "file:///tmp", env: {}, tty: false, ...more };
    return this.call("process/start", params);
  }

  of(processId: string, method: string): Record<string, unknown>[] {
    const about = this.notifications.filter((one) => one.method === method);
    return about.map(({ params }) => params).filter((params) => params.processId === processId);
  }

  /** The output that it was told of, by stream, in the order of its numbers. */
  output(processId: string, stream?: string): string {
    return textOf(this.of(processId, "process/output") as unknown as Chunk[], stream);
  }

  exit(processId: string): Promise<Record<string, unknown>> {
    return until(`the end of ${processId}`, () => {
      const [exited] = this.of(processId, "process/exited");
      return this.of(processId, "process/closed").length > 0 && exited;
    });
  }
}

export function textOf(chunks: readonly Chunk[], stream?: string): string {
  const wanted = chunks.filter((one) => stream === undefined || one.stream === stream);
  return Buffer.concat(wanted.map(({ chunk }) => Buffer.from(chunk, "base64"))).toString();
}

export const codexAt = (sandbox: string, ticket: string) =>
  `${system.origin.replace(/^http/, "ws")}/codex/${sandbox}?ticket=${ticket}`;
