// `codex`: speaks codex' exec-server on standard input and output, and holds the connection, over any outage.

import type { Readable } from "node:stream";
import { CODEX_PULL_HEADER, MAX_MESSAGE_BYTES, StdioRelay } from "sandbox-stdio/codex";
import { backoffMs, CLOSE, type ClientSocket, isRecord } from "sandbox-stdio/core";
import type { CodexCommand } from "../args/cli-command.ts";
import { CliError, EXIT, exitWith, type Outcome } from "../base/outcome.ts";
import { notify, print } from "../base/print.ts";
import { fetchJson } from "../connection/api-call.ts";
import { Connector } from "../connection/connector.ts";

/** A connection on which nothing is heard for so long is broken. */
const PING_MS = 10_000;
/** How long the end of what the client has started is waited for. */
const LEAVE_MS = 2_000;
/** What no other try changes: the session or the right is over, or HTTP said 400, 401, 403, 404 or 426. */
const FINAL: readonly number[] = [CLOSE.normal, CLOSE.policy, 4400, 4401, 4403, 4404, 4426];

/** @param token Not asked for with a ticket. @throws {CliError} */
export async function codex(command: CodexCommand, token: () => Promise<string>, input: Readable): Promise<Outcome> {
  if (command.printsConfig === "program") return print(configOf(`program = "sbx-stdio"\nargs = ${words(command)}`));
  if (command.printsConfig === "url") {
    const path = `/api/sandboxes/${encodeURIComponent(command.sandbox)}/codex-ticket`;
    const made = await fetchJson(command.endpoint, path, await token(), { method: "POST", body: {} });
    if (!isRecord(made) || typeof made.url !== "string") throw new CliError("the server returned no ticket");
    return print(configOf(`url = ${JSON.stringify(made.url)}`));
  }
  return new Promise<Outcome>((resolve, reject) => {
    const session = new CodexSession(command, token, reject);
    // Node's own reader of lines also ends them at U+2028, which may stand in a text.
    let line = "";
    input.setEncoding("utf8").on("data", (text: string) => {
      const [first = "", ...more] = text.split("\n");
      line += first;
      for (const next of more) {
        session.relay.line(line);
        line = next;
      }
      // The beginning of one that is too long is no JSON, and answered so.
      if (line.length > MAX_MESSAGE_BYTES) line = line.slice(0, MAX_MESSAGE_BYTES);
    });
    input.on("end", () => session.leave(() => resolve(exitWith(EXIT.ok))));
    session.connect();
  });
}

class CodexSession {
  readonly relay: StdioRelay;
  readonly #connector: Connector;
  readonly #failed: (error: CliError) => void;
  #socket: ClientSocket | undefined;
  #attempt = 0;
  #isOver = false;

  constructor(command: CodexCommand, token: () => Promise<string>, failed: (error: CliError) => void) {
    const { endpoint, sandbox, ticket } = command;
    this.#failed = failed;
    this.#connector = new Connector({
      attachUrl: `${endpoint.httpBase.replace(/^http/, "ws")}/codex/${encodeURIComponent(sandbox)}`,
      token: async () => (ticket === undefined ? token() : undefined),
      ticket,
      other: { headers: { [CODEX_PULL_HEADER]: "1" }, maxMessageBytes: MAX_MESSAGE_BYTES, pingMs: PING_MS },
    });
    this.relay = new StdioRelay({
      say: (line) => process.stdout.write(`${line}\n`),
      send: (text) => this.#socket?.send(text),
      over: (message) => this.#fail(message),
      later: (task) => void setTimeout(task, backoffMs(0, Math.random())),
    });
  }

  connect(): void {
    this.#socket = this.#connector.connect([], {
      open: () => {
        this.#attempt = 0;
        this.relay.opened();
      },
      text: (message) => this.relay.received(message),
      binary: () => undefined,
      closed: (code, reason) => this.#closed(code, reason),
    });
  }

  /** Ends what the client has started, where the server can be reached, and the connection. */
  leave(done: () => void): void {
    const end = () => {
      clearTimeout(late);
      this.#end();
      done();
    };
    const late = setTimeout(end, LEAVE_MS);
    this.relay.leave(end);
  }

  #end(): void {
    this.#isOver = true;
    this.#socket?.close(CLOSE.normal);
  }

  #closed(code: number, reason: string): void {
    if (this.#isOver) return;
    this.relay.closed();
    if (FINAL.includes(code)) {
      this.#fail(reason || "closed");
      return;
    }
    // Once an outage, which the client does not notice.
    if (this.#attempt === 0) notify(`${reason || "the connection broke"}: trying again`);
    setTimeout(
      () => {
        if (!this.#isOver) this.connect();
      },
      backoffMs(this.#attempt, Math.random()),
    );
    this.#attempt += 1;
  }

  #fail(message: string): void {
    if (this.#isOver) return;
    this.#end();
    this.#failed(new CliError(message));
  }
}

const HINT =
  "# The container is the sandbox: start codex with -s danger-full-access, since a start with its own is refused.";

function configOf(how: string): string {
  return `${HINT}\ndefault = "sbx"\n\n[[environments]]\nid = "sbx"\n${how}\n`;
}

/** The arguments of this same command, as TOML. */
function words({ endpoint, sandbox }: CodexCommand): string {
  return `[${["codex", endpoint.httpBase, "--sandbox", sandbox].map((word) => JSON.stringify(word)).join(", ")}]`;
}
