// The MCP server of the tools, with its schemas. It is larger than all the rest, so the build puts it into a separate file. Such a file
// has copies of the classes that it imports: modules of the command line that compare classes may not be imported here.

import process from "node:process";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { mcpServer, type ToolHost } from "@sbx/mcp";
import { McpLines } from "./mcp-lines.ts";

/** Answers to the requests of a batch go out together. */
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
