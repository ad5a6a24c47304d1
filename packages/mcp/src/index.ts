// The tools, for the parts that serve them: the Worker over HTTP, the command line over stdio.

export { mcpServer, type ToolHost } from "./tools/server.ts";
