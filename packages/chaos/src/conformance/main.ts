// The command: `npm run conformance`. Checks a server by its URL, or a client by its command, against PROTOCOL.md.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { noteCounts } from "../../../local/src/base/counts.ts";
import { ROOT } from "../../../local/src/base/paths.ts";
import { buildAndStart } from "../../../local/src/system/parts.ts";
import { type Result, runChecks, tableOf } from "./check.ts";
import { CLIENT_CHECKS } from "./client-checks.ts";
import { INPUT_CHECKS } from "./input-checks.ts";
import type { Target } from "./probe.ts";
import { SERVER_CHECKS } from "./server-checks.ts";

const USAGE = `Usage: npm run conformance -- [--json FILE] [URL | client COMMAND]

  URL            a server: its /attach, with ?sandbox=NAME, where sh, cat, head, seq and sleep are. The token is in SBX_TOKEN
  client COMMAND a client, for the shell. It gets three arguments more, the URL of an attach, --, and a command, and the token in
                 SBX_TOKEN. Its stdin, stdout, stderr and exit code must be those of the process
  neither        a local system of our own, our client and the one in examples/python-client
  --json FILE    writes the report as JSON too

Ends with 0 if all checks hold, 1 if one does not, 2 for wrong usage.
`;

export const ALL_SERVER_CHECKS = [...SERVER_CHECKS, ...INPUT_CHECKS];

const OUR_CLIENTS = {
  typescript: `"${process.execPath}" --no-warnings "${join(ROOT, "packages/chaos/src/conformance/our-client.ts")}"`,
  python: `python3 "${join(ROOT, "examples/python-client/sbx_stdio.py")}"`,
} as const;

const checkServer = (target: Target): Promise<Result[]> => runChecks("server", target, ALL_SERVER_CHECKS);
const checkClient = (name: string, command: string): Promise<Result[]> => runChecks(name, command, CLIENT_CHECKS);

/** A local system, and both clients of the repository. */
async function checkOurs(signal?: AbortSignal): Promise<Result[]> {
  const dir = mkdtempSync(join(tmpdir(), "sbx-conformance-"));
  const system = await buildAndStart({ dir, workerVars: { LIMIT_ATTACHES_PER_MINUTE: "100000" }, signal });
  try {
    const token = await system.mintToken({ scope: "sandbox:connect sandbox:exec" });
    const server = await checkServer({ url: new URL(`${system.origin}/attach?sandbox=dev`), token });
    const clients: Result[] = [];
    for (const [name, command] of Object.entries(OUR_CLIENTS)) clients.push(...(await checkClient(name, command)));
    return [...server, ...clients];
  } finally {
    await system.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** @returns The exit code. */
export async function conformance(args: readonly string[], signal?: AbortSignal): Promise<number> {
  let results: Promise<Result[]>;
  let json: string | undefined;
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { json: { type: "string" } },
      allowPositionals: true,
    });
    json = values.json;
    const [subject, ...rest] = positionals;
    if (subject === undefined) results = checkOurs(signal);
    else if (subject === "client" && rest.length > 0) results = checkClient("client", rest.join(" "));
    else if (URL.canParse(subject) && rest.length === 0)
      results = checkServer({ url: new URL(subject), token: process.env.SBX_TOKEN ?? "" });
    else throw new Error(`Cannot check ${positionals.join(" ")}: give a URL, or client and a COMMAND`);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
    return 2;
  }
  const all = await results;
  console.log(tableOf(all));
  if (json !== undefined) writeFileSync(json, `${JSON.stringify(all, undefined, 2)}\n`);
  const held = all.filter(({ fault }) => fault === undefined).length;
  noteCounts({ "checks that hold": held });
  return held === all.length ? 0 : 1;
}
