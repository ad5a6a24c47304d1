// The MCP server of the tools, with its schemas. The build makes a file of its own of it: it is larger than all the rest. So nothing of
// this command line that knows its own classes may be imported here.

import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { mcpServer, type ToolHost } from "@sbx/mcp";

export const serveTools = (host: ToolHost, version: string) => serveStdio(() => mcpServer(host, version));
