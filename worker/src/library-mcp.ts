// `sandbox-stdio/worker/mcp`: the tools of MCP for createStdio(). Apart from it, so that only those bundle the MCP SDK who want it.

export { mcpTools } from "./routes/mcp.ts";
