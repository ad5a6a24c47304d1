// `codex`: speaks codex' exec-server on standard input and output, and holds the connection, over any outage.

import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { CODEX_PULL_HEADER, StdioRelay } from "sandbox-stdio/codex";
import { backoffMs, defined, isRecord } from "sandbox-stdio/core";
import WebSocket from "ws";
import type { CodexCommand } from "../args/cli-command.ts";
import { describeFailure } from "../base/network-errors.ts";
import { CliError, EXIT, exitWith, type Outcome } from "../base/outcome.ts";
import { notify, print } from "../base/print.ts";
import { fetchJson } from "../connection/api-call.ts";
import { refusalOf } from "../connection/refusal.ts";

const HANDSHAKE_MS = 20_000;
/** Nothing is heard for so long only where the connection is broken: it is pinged meanwhile. */
const PING_MS = 10_000;
const TICK_MS = 1_000;
const POLICY = 1008;
const NORMAL = 1000;
/** Refusals that no other try changes. */
const FINAL: readonly number[] = [400, 401, 403, 404, 426];

/** @param token Not asked for with a ticket. @throws {CliError} */
export async function codex(command: CodexCommand, token: () => Promise<string>, input: Readable): Promise<Outcome> {
  if (command.printsConfig === "program") return print(configOf(`program = "sbx-stdio"\nargs = ${words(command)}`));
  if (command.printsConfig === "url") {
    const path = `/api/sandboxes/${encodeURIComponent(command.sandbox)}/codex-ticket`;
    const made = await fetchJson(command.endpoint, path, await token(), { method: "POST", body: {} });
    if (!isRecord(made) || typeof made.url !== "string") throw new CliError("the server returned no ticket");
    return print(configOf(`url = ${JSON.stringify(made.url)}`));
  }
  const { ticket } = command;
  // Fail now, and not at the first call, if there is no token.
  if (ticket === undefined) await token();
  return new Promise<Outcome>((resolve, reject) => {
    const session = new CodexSession(command, token, reject);
    const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
    lines.on("line", (line) => session.relay.line(line));
    lines.on("close", () => {
      session.end();
      resolve(exitWith(EXIT.ok));
    });
    session.connect();
  });
}

class CodexSession {
  readonly relay: StdioRelay;
  readonly #command: CodexCommand;
  readonly #token: () => Promise<string>;
  readonly #failed: (error: CliError) => void;
  #socket: WebSocket | undefined;
  #attempt = 0;
  #hasBeenOpen = false;
  #isOver = false;
  readonly #ticking: NodeJS.Timeout;

  constructor(command: CodexCommand, token: () => Promise<string>, failed: (error: CliError) => void) {
    this.#command = command;
    this.#token = token;
    this.#failed = failed;
    this.relay = new StdioRelay({
      say: (line) => process.stdout.write(`${line}\n`),
      send: (text) => this.#socket?.send(text),
      over: (message) => this.#fail(message),
    });
    this.#ticking = setInterval(() => this.relay.tick(), TICK_MS);
  }

  connect(): void {
    this.#dial().catch((error: unknown) => {
      // Later the network may just be down, where the token is renewed.
      if (this.#hasBeenOpen) this.#again();
      else this.#fail(error instanceof Error ? error.message : String(error));
    });
  }

  end(): void {
    this.#isOver = true;
    clearInterval(this.#ticking);
    this.#socket?.close(NORMAL);
  }

  async #dial(): Promise<void> {
    const { endpoint, sandbox, ticket } = this.#command;
    const bearer = ticket === undefined ? `Bearer ${await this.#token()}` : undefined;
    if (this.#isOver) return;
    const url = `${endpoint.httpBase.replace(/^http/, "ws")}/codex/${encodeURIComponent(sandbox)}`;
    // Not in the address, which servers log.
    const headers = defined({ Authorization: bearer, "X-Stdio-Ticket": ticket, [CODEX_PULL_HEADER]: "1" });
    const socket = new WebSocket(url, { headers, perMessageDeflate: false, handshakeTimeout: HANDSHAKE_MS });
    this.#socket = socket;
    let refused: string | undefined;
    let isHeard = true;
    const pinging = setInterval(() => {
      if (!isHeard) socket.terminate();
      else if (socket.readyState === WebSocket.OPEN) socket.ping();
      isHeard = socket.readyState !== WebSocket.OPEN;
    }, PING_MS);
    socket.on("open", () => {
      this.#hasBeenOpen = true;
      this.#attempt = 0;
      this.relay.opened();
    });
    socket.on("pong", () => {
      isHeard = true;
    });
    socket.on("message", (data, isBinary) => {
      isHeard = true;
      if (!isBinary) this.relay.received(String(data));
    });
    socket.on("unexpected-response", (_, response) => {
      const { statusCode = 0 } = response;
      response.on("data", (body: Buffer) => {
        const { message = `the server answered HTTP ${statusCode}` } = refusalOf(String(body));
        if (FINAL.includes(statusCode)) refused = message;
      });
      response.on("close", () => socket.terminate());
    });
    socket.on("error", (error) => {
      if (!this.#hasBeenOpen && !this.#isOver) notify(describeFailure(error, new URL(url).host));
    });
    socket.on("close", (code, reason) => {
      clearInterval(pinging);
      this.relay.closed();
      if (refused !== undefined) this.#fail(refused);
      else if (code === POLICY || (code === NORMAL && !this.#isOver)) this.#fail(String(reason) || "closed");
      else this.#again();
    });
  }

  #again(): void {
    if (this.#isOver) return;
    setTimeout(() => this.connect(), backoffMs(this.#attempt, Math.random()));
    this.#attempt += 1;
  }

  #fail(message: string): void {
    if (this.#isOver) return;
    this.end();
    this.#failed(new CliError(message));
  }
}

function configOf(how: string): string {
  return `default = "sbx"\n\n[[environments]]\nid = "sbx"\n${how}\n`;
}

/** The arguments of this same command, as TOML. */
function words({ endpoint, sandbox }: CodexCommand): string {
  return `[${["codex", endpoint.httpBase, "--sandbox", sandbox].map((word) => JSON.stringify(word)).join(", ")}]`;
}
