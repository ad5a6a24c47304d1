// The MCP server of the tools, with its schemas. It is larger than all the rest, so the build puts it into a separate file. Such a file
// has copies of the classes that it imports: modules of the command line that compare classes may not be imported here.

import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { mcpServer, type ToolHost } from "@sbx/mcp";

export const serveTools = (host: ToolHost, version: string) => serveStdio(() => mcpServer(host, version));
