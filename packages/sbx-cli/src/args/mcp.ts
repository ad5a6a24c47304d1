// The words of `mcp`, which has a module of its own: described with the others, read there.

import type { Command } from "commander";
import { addPlace } from "./place.ts";

export function addMcpWords(command: Command): Command {
  return addPlace(command.argument("[url]", "the server: https://HOST (default: the context's)"))
    .description("serve the tools of a server's sandboxes to an MCP host, over standard input and output")
    .addHelpText(
      "after",
      "\nAn MCP host starts it and speaks JSON-RPC with it. Without a sandbox, here or in the context, each call names its own.",
    );
}
