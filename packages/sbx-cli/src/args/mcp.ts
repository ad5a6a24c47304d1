// The arguments of `mcp`, which mcp-command.ts parses by itself.

import type { Command } from "commander";
import { addTarget } from "./target.ts";

export function addMcpWords(command: Command): Command {
  return addTarget(command.argument("[url]", "the server: https://HOST (default: the context's)"))
    .description("serve sandbox tools to an MCP host over standard input and output")
    .addHelpText(
      "after",
      "\nAn MCP host starts this command and speaks JSON-RPC with it. If neither option nor context names a sandbox, each call does.",
    );
}
