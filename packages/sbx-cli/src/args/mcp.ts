// The words of `mcp`, which has a module of its own: described with the others, read there.

import type { Command } from "commander";
import { addPlace } from "./place.ts";

const HELP = `
An MCP host starts it and speaks JSON-RPC with it. For Claude Code:
  claude mcp add sandbox -- sbx-stdio mcp https://host --sandbox dev
`;

export function addMcpWords(command: Command): Command {
  return addPlace(command.argument("[url]", "the server: https://HOST (default: the context's)"))
    .description("serve the tools of a server's sandboxes to an MCP host, over standard input and output")
    .addHelpText("after", `${HELP}\nWithout a sandbox, here or in the context, each call names its own.\n`);
}
