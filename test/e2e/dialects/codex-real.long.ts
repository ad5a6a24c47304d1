// The real codex command line through an editing and testing task in a sandbox, while connections on both hops are cut.
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, connect as dial, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { CLI, cliEnv } from "../support/clients/cli.ts";
import { codexUrl } from "../support/clients/codex-raw.ts";
import { type Reply, runCodex, standInModel, type Turn } from "../support/codex/codex.ts";
import { cutInnerHop, fresh, type Person, person, restartWorker, system } from "../support/system/system.ts";

/** Of each hop; the task takes about so many fifths of a second. */
const CUTS = Number(process.env.CODEX_CUTS ?? 100);
const LINES = CUTS * 2;

/** A folder that both codex and the sandbox have: the sandbox's processes run on this machine. */
function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "sbx-codex-work-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Passes connections on to the Worker, until they are cut. */
async function proxy(): Promise<{ port: number; cut(): number }> {
  const open = new Set<Socket>();
  const { hostname, port } = new URL(system.origin);
  const server = createServer((client) => {
    const upstream = dial(Number(port), hostname);
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(one);
      one.pipe(other);
      one.on("error", () => undefined);
      one.on("close", () => {
        open.delete(one);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const cut = () => {
    const count = open.size / 2;
    for (const socket of open) socket.resetAndDestroy();
    return count;
  };
  return { port: address.port, cut };
}

const PATCH = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: added.txt\n+hello\n*** End Patch\nEOF";
const SCRIPT = `read x; echo "got $x"; grep -q hello added.txt && for i in $(seq 1 ${LINES}); do echo "line $i."; sleep 0.1; done`;

/** Edits a file, starts a test that waits for a line, types the line, and reads to the end. */
function task(turn: number, { last, session }: Turn): Reply {
  if (turn === 0) return { tool: "exec_command", args: { cmd: PATCH } };
  if (turn === 1) return { tool: "exec_command", args: { cmd: SCRIPT, tty: true, yield_time_ms: 500 } };
  if (turn === 2) return { tool: "write_stdin", args: { session_id: session, chars: "abc\n", yield_time_ms: 2_000 } };
  if (/Process exited with code/.test(last) || turn > 200) return { text: "done" };
  return {
    tool: "write_stdin",
    args: { session_id: session, chars: "", yield_time_ms: 5_000, max_output_tokens: 50_000 },
  };
}

/** Runs the task with cuts at both hops, once everything is under way. */
async function runTask(environments: string, work: string, cut: () => number, path: string[] = []) {
  const model = await standInModel(task);
  let isOver = false;
  let cuts = 0;
  const ran = runCodex(environments, model.url, work, path).finally(() => {
    isOver = true;
  });
  while (!isOver && model.told.length < 3) await delay(50);
  const restartAt = Math.floor(CUTS / 2);
  while (!isOver && cuts < CUTS) {
    await delay(150);
    if (cut() > 0) cuts += 1;
    await cutInnerHop();
    if (cuts === restartAt) await restartWorker();
  }
  const { code, out } = await ran;
  const said = model.told.map(({ last }) => last).join("\n");
  const lines = [...said.matchAll(/line (\d+)\./g)].map(([, number]) => Number(number));
  console.log(`${cuts} cuts of the client's connection, ${model.told.length} turns, ${lines.length} lines`);
  expect([code, out.slice(-2_000)]).toEqual([0, expect.stringContaining("done")]);
  expect(readFileSync(join(work, "added.txt"), "utf8")).toBe("hello\n");
  expect(said.match(/got abc/g)).toHaveLength(1);
  expect(lines).toEqual(Array.from({ length: LINES }, (_, i) => i + 1));
}

test("by url: codex edits, tests and waits, over cuts of both hops", async () => {
  const [who, work] = [await person(), folder()];
  const { port, cut } = await proxy();
  const { url } = await codexUrl(who, fresh("box"));
  const address = url.replace(/^ws:\/\/[^/]+/, `ws://127.0.0.1:${port}`);
  await runTask(`default = "sbx"\n\n[[environments]]\nid = "sbx"\nurl = "${address}"\n`, work, cut);
});

test("by program: the same through sbx-stdio codex", async () => {
  const [who, work, bin] = [await person(), folder(), folder()];
  const { port, cut } = await proxy();
  installProgram(bin, who);
  const words = ["codex", `http://127.0.0.1:${port}`, "--sandbox", fresh("box")];
  const how = `program = "sbx-stdio"\nargs = ${JSON.stringify(words)}\n`;
  await runTask(`default = "sbx"\n\n[[environments]]\nid = "sbx"\n${how}`, work, cut, [bin]);
});

/** `sbx-stdio` on the PATH, with this person's token. */
function installProgram(bin: string, who: Person): void {
  const { SBX_TOKEN = "", HOME = "" } = cliEnv(who);
  const script = `#!/bin/sh\nSBX_TOKEN='${SBX_TOKEN}' HOME='${HOME}' exec '${process.execPath}' '${CLI}' "$@"\n`;
  writeFileSync(join(bin, "sbx-stdio"), script);
  chmodSync(join(bin, "sbx-stdio"), 0o755);
}
