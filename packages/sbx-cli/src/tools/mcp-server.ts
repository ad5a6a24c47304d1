// The MCP server of the tools with its schemas, which the build puts into a separate file for its size. That file has its own copies
// of imported classes: don't import modules that compare classes.

import process from "node:process";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { mcpServer, type ToolHost } from "@sbx/mcp";
import { McpLines } from "./mcp-lines.ts";

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
