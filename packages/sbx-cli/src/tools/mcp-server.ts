// The MCP server of the tools with its schemas, which the build puts into a separate file for its size. That file has its own copies
// of imported classes: don't import modules that compare classes.

import process from "node:process";
import { Transform, type TransformCallback } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { mcpServer, type ToolHost } from "@sbx/mcp";
import { MAX_MESSAGE_BYTES, readBody } from "@sbx/mcp/gateway";

/** Sends the answers of a batch together. */
class LineTransport extends StdioServerTransport {
  readonly #lines: McpLines;

  constructor(lines: McpLines) {
    super(lines, process.stdout);
    this.#lines = lines;
  }

  override async send(message: Parameters<StdioServerTransport["send"]>[0]): Promise<void> {
    if (!this.#lines.collect(message)) await super.send(message);
  }
}

export function serveTools(host: ToolHost, version: string) {
  const lines = new McpLines((message) => process.stdout.write(`${JSON.stringify(message)}\n`));
  process.stdin.pipe(lines);
  return serveStdio(() => mcpServer(host, version), { transport: new LineTransport(lines) });
}

type Message = Readonly<Record<string, unknown>>;

const INVALID_REQUEST = -32_600;

/** Passes on each valid message as its own line, and answers all others: the SDK ignores invalid lines and batches without an answer. */
export class McpLines extends Transform {
  readonly #answer: (message: Message | readonly Message[]) => void;
  readonly #decoder = new StringDecoder("utf8");
  #line = "";
  #isTooLong = false;
  /** Per open batch: requests without an answer, and the answers so far. */
  #batches: { readonly open: Set<string>; readonly answers: Message[] }[] = [];

  /** @param answer Sends one or several messages to the client in one line. */
  constructor(answer: (message: Message | readonly Message[]) => void) {
    super();
    this.#answer = answer;
  }

  /** Collects an answer to a batch, which is sent as a whole. @returns Whether the message was one. */
  collect(message: Message): boolean {
    if (message.method !== undefined || message.id === undefined) return false;
    const id = JSON.stringify(message.id);
    const batch = this.#batches.find(({ open }) => open.has(id));
    if (batch === undefined) return false;
    batch.open.delete(id);
    batch.answers.push(message);
    if (batch.open.size > 0) return true;
    this.#batches = this.#batches.filter((one) => one !== batch);
    this.#answer(batch.answers);
    return true;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const [first = "", ...more] = this.#decoder.write(chunk).split("\n");
    this.#keep(first);
    for (const next of more) {
      this.#end();
      this.#keep(next);
    }
    done();
  }

  #keep(text: string): void {
    if (!this.#isTooLong) this.#line += text;
    if (this.#line.length <= MAX_MESSAGE_BYTES) return;
    this.#line = "";
    this.#isTooLong = true;
  }

  #end(): void {
    const [line, isTooLong] = [this.#line, this.#isTooLong];
    this.#line = "";
    this.#isTooLong = false;
    if (isTooLong) this.#refuse(null, INVALID_REQUEST, "message larger than 4 MiB");
    else if (line.trim() !== "") this.#read(line);
  }

  #read(line: string): void {
    const body = readBody(line);
    if (!body.ok) {
      this.#refuse(idIn(line), body.code, body.message);
      return;
    }
    const open = new Set(body.sent.flatMap(({ id }) => id ?? []));
    if (line.trimStart().startsWith("[") && open.size > 0) this.#batches.push({ open, answers: [] });
    for (const message of body.messages) this.push(`${JSON.stringify(message)}\n`);
  }

  #refuse(id: unknown, code: number, message: string): void {
    this.#answer({ jsonrpc: "2.0", id, error: { code, message } });
  }
}

/** The id of an invalid message; null if it has none. */
function idIn(line: string): unknown {
  try {
    const { id } = JSON.parse(line) as { id?: unknown };
    return typeof id === "string" || typeof id === "number" ? id : null;
  } catch {
    return null; // Not JSON.
  }
}
