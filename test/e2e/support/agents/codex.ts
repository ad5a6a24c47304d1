// The real codex command line, of the registry, against a stand-in of its model's API. It talks to loopback alone.
import { execFileSync, spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { childEnv } from "../../../../packages/local/src/base/env.ts";
import { ROOT } from "../../../../packages/local/src/base/paths.ts";
import { installedCodex } from "../../../../packages/local/src/build/codex.ts";

/** `sbx-stdio` in a folder for the PATH, with this environment. */
export function installCli(folder: string, cli: string, env: NodeJS.ProcessEnv): void {
  const { SBX_TOKEN = "", HOME = "" } = env;
  const script = `#!/bin/sh\nSBX_TOKEN='${SBX_TOKEN}' HOME='${HOME}' exec '${process.execPath}' '${cli}' "$@"\n`;
  writeFileSync(join(folder, "sbx-stdio"), script);
  chmodSync(join(folder, "sbx-stdio"), 0o755);
}

/** The line of the guide's example that begins like this, or holds it. */
function guidedLine(part: string): string {
  const [, section = ""] = readFileSync(join(ROOT, "docs/programs.md"), "utf8").split("\n## Codex\n");
  return section.split("\n").find((one) => one.includes(part)) ?? "false";
}

/** The `environments.toml` that the guide's example writes, for the server at `origin`. @param bin Has `sbx-stdio`. */
export function guidedConfig(origin: string, bin: string): string {
  const line = guidedLine("--print-config program >");
  const home = join(bin, "codex-home");
  const env = childEnv({ CODEX_HOME: home, PATH: `${bin}:${process.env.PATH}` });
  execFileSync("sh", ["-c", line.replace("http://localhost:8787", origin)], { env });
  return readFileSync(join(home, "environments.toml"), "utf8");
}

/** What codex tells its model: the newest item, and the id of the command that runs, once there is one. */
export type Turn = { readonly last: string; readonly session: number };
/** A call of a tool, or the last words. */
export type Reply = { readonly tool: string; readonly args: object } | { readonly text: string };

/** A stand-in of the model's API (Responses): answers each turn as it is told to. @returns Its address, and what it was told. */
export async function standInModel(reply: (turn: number, told: Turn) => Reply): Promise<{ url: string; told: Turn[] }> {
  const told: Turn[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece) => {
      body += piece;
    });
    request.on("end", () => {
      if (!request.url?.includes("/responses")) {
        response.end("{}");
        return;
      }
      const { input } = JSON.parse(body) as { input: { output?: unknown }[] };
      const [, session = 0] = /session ID (\d+)/.exec(JSON.stringify(input)) ?? [];
      const { output } = input.at(-1) ?? {};
      const turn = {
        last: typeof output === "string" ? output : JSON.stringify(output ?? ""),
        session: Number(session),
      };
      told.push(turn);
      const said = reply(told.length - 1, turn);
      const id = `c${told.length}`;
      const item =
        "text" in said
          ? { type: "message", role: "assistant", id, content: [{ type: "output_text", text: said.text }] }
          : { type: "function_call", id, call_id: id, name: said.tool, arguments: JSON.stringify(said.args) };
      const usage = {
        ...{ input_tokens: 1, output_tokens: 1, total_tokens: 2 },
        ...{ input_tokens_details: null, output_tokens_details: null },
      };
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const event of [
        { type: "response.created", response: { id } },
        { type: "response.output_item.done", item },
        { type: "response.completed", response: { id, usage } },
      ]) {
        response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
      }
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, told };
}

export type Ran = { readonly code: number | null; readonly out: string };

/** Runs codex to its end. @param environments Its `environments.toml`. @param cwd Which the sandbox has, too. */
export async function runCodex(environments: string, modelUrl: string, cwd: string, path: string[] = []): Promise<Ran> {
  const home = mkdtempSync(join(tmpdir(), "sbx-codex-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const config = [
    'model = "gpt-5"\nmodel_provider = "local"\napproval_policy = "never"',
    `[model_providers.local]\nname = "local"\nbase_url = "${modelUrl}"\nwire_api = "responses"\n`,
  ];
  writeFileSync(join(home, "config.toml"), config.join("\n"));
  writeFileSync(join(home, "environments.toml"), environments);
  const env = childEnv({ CODEX_HOME: home, HOME: home, PATH: [...path, process.env.PATH ?? ""].join(":") });
  const [words = ""] = guidedLine("codex exec ").split('"');
  const args = [installedCodex(), ...words.trim().split(" ").slice(1), "do it"];
  const child = spawn(process.execPath, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let out = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece) => (out += piece));
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, out })));
}
