// `sbx-stdio mcp`: the server's tools as an MCP server over standard input and output, with this command line's login.

import process from "node:process";
import type { ToolHost } from "@sbx/mcp";
import { Command, CommanderError } from "commander";
import { readDefaults } from "../account/contexts.ts";
import { tokenSource } from "../account/credentials.ts";
import type { ReadDefaults } from "../args/args.ts";
import type { Place } from "../args/cli-command.ts";
import { addMcpWords } from "../args/mcp.ts";
import { type PlaceFlags, placeOf } from "../args/place.ts";
import { refuseSecondValues } from "../args/readers.ts";
import type { Environment } from "../base/environment.ts";
import { EXIT, exitWith, type Outcome, usage } from "../base/outcome.ts";
import { VERSION } from "../base/version.ts";

type McpWish = Omit<Place, "sandbox"> & { readonly sandbox: string | undefined };

/** @param argv The words after "mcp". @throws {CliError} */
export async function mcp(argv: readonly string[], env: Environment): Promise<Outcome> {
  const wish = readWish(argv, (context) => readDefaults(env, process.cwd(), context));
  if (typeof wish === "string") {
    process.stdout.write(wish);
    return exitWith(EXIT.ok);
  }
  const { endpoint, sandbox } = wish;
  const tokens = tokenSource(wish, env);
  // A person without a login is told so at once, and not by the first tool.
  await tokens.token();
  const host: ToolHost = {
    sandbox,
    ask: async ({ method, path, body }, signal) =>
      fetch(`${endpoint.httpBase}${path}`, {
        method,
        headers: { Authorization: `Bearer ${await tokens.token()}`, "Content-Type": "application/json" },
        ...(body === undefined ? {} : { body }),
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

/** @returns Text, where that was asked for. */
function readWish(argv: readonly string[], read: ReadDefaults): McpWish | string {
  let wish: McpWish | undefined;
  let shown = "";
  const command = addMcpWords(new Command("sbx-stdio mcp"))
    .exitOverride()
    .configureOutput({
      writeOut: (text) => {
        shown += text;
      },
      writeErr: () => undefined,
    })
    .action((url: string | undefined, flags: PlaceFlags) => {
      const defaults = read(flags.context);
      const { sandbox = defaults.sandbox } = flags;
      // Which sandbox is left open where nothing says it: each call does then.
      wish = { ...placeOf(url, flags, defaults), sandbox };
    });
  refuseSecondValues(command);
  try {
    command.parse(argv, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return shown;
    throw usage(error.message.replace(/^error: /, "").replace(/\.$/, ""));
  }
  if (wish === undefined) throw usage("which server? See sbx-stdio mcp --help");
  return wish;
}
