// `mcp`: serves sandbox tools as an MCP server on standard input and output, with this command line's login.

import process from "node:process";
import type { ToolHost } from "@sbx/mcp";
import { Command, CommanderError } from "commander";
import { defined } from "sandbox-stdio/core";
import { readDefaults } from "../account/contexts.ts";
import { tokenSource } from "../account/credentials.ts";
import type { ReadDefaults } from "../args/args.ts";
import type { Target } from "../args/cli-command.ts";
import { addMcpWords } from "../args/mcp.ts";
import { refuseSecondValues } from "../args/readers.ts";
import { type TargetFlags, targetOf } from "../args/target.ts";
import type { Environment } from "../base/environment.ts";
import { EXIT, exitWith, type Outcome, usage } from "../base/outcome.ts";
import { VERSION } from "../base/version.ts";

type McpRequest = Omit<Target, "sandbox"> & { readonly sandbox: string | undefined };

/** @param argv The words after "mcp". @throws {CliError} */
export async function mcp(argv: readonly string[], env: Environment): Promise<Outcome> {
  const request = parseMcpArgs(argv, (context) => readDefaults(env, process.cwd(), context));
  if (typeof request === "string") {
    process.stdout.write(request);
    return exitWith(EXIT.ok);
  }
  const { endpoint, sandbox } = request;
  const tokens = tokenSource(request, env);
  // Fail now, and not at the first tool, if there is no token.
  await tokens.token();
  const host: ToolHost = {
    sandbox,
    ask: async ({ method, path, body }, signal) =>
      fetch(`${endpoint.httpBase}${path}`, {
        method,
        headers: { Authorization: `Bearer ${await tokens.token()}`, "Content-Type": "application/json" },
        ...defined({ body }),
        redirect: "error",
        signal,
      }),
  };
  const { serveTools } = await import("./mcp-server.ts");
  const ended = new Promise<void>((resolve) => {
    process.stdin.once("end", resolve).once("close", resolve);
  });
  const server = serveTools(host, VERSION);
  await ended;
  await server.close();
  return exitWith(EXIT.ok);
}

/** @returns A text to print for --help. */
function parseMcpArgs(argv: readonly string[], read: ReadDefaults): McpRequest | string {
  let request: McpRequest | undefined;
  let shown = "";
  const command = addMcpWords(new Command("sbx-stdio mcp"))
    .exitOverride()
    .configureOutput({
      writeOut: (text) => {
        shown += text;
      },
      writeErr: () => undefined,
    })
    .action((url: string | undefined, flags: TargetFlags) => {
      const defaults = read(flags.context);
      const { sandbox = defaults.sandbox } = flags;
      // Without a sandbox each call names one.
      request = { ...targetOf(url, flags, defaults), sandbox };
    });
  refuseSecondValues(command);
  try {
    command.parse(argv, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return shown;
    throw usage(error.message.replace(/^error: /, "").replace(/\.$/, ""));
  }
  if (request === undefined) throw usage("missing server address; see sbx-stdio mcp --help");
  return request;
}
