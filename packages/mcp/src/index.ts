// The tools, for the parts that serve them: the Worker over HTTP, the command line over stdio.

export { type ApiRequest, answerOf } from "./tools/request.ts";
export { mcpServer, type ToolHost } from "./tools/server.ts";
export { TOOL_NAMES } from "./tools/table.ts";
