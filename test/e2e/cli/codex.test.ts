// `sbx-stdio codex`: a client on standard input and output that no outage ends.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { guidedConfig, installCli } from "../support/agents/codex.ts";
import { CodexCli } from "../support/agents/codex-cli.ts";
import { type Chunk, codexUrl, textOf } from "../support/agents/codex-raw.ts";
import { CLI, cliEnv, exitCode, runCli } from "../support/clients/cli.ts";
import { api, cutInnerHop, fresh, person, restartWorker, system } from "../support/system/system.ts";
import { until, within } from "../support/system/wait.ts";

const begin = { clientName: "test", resumeSessionId: null };
const script = (text: string) => ({ argv: ["/bin/bash", "-c", text], cwd: "file:///tmp", env: {}, tty: false });

test("E4: over cuts and a restart of the Worker each line comes once, and what is asked meanwhile is answered", async () => {
  const who = await person();
  const box = fresh("box");
  const client = new CodexCli(who, ["--sandbox", box]);
  await client.answer(client.ask("initialize", begin));
  const lines = "read x; echo got $x; for i in $(seq 1 25); do echo line $i; sleep 0.1; done; read x";
  await client.answer(client.ask("process/start", { processId: "p", ...script(lines), pipeStdin: true }));
  const chunk = Buffer.from("hello\n").toString("base64");
  await client.answer(client.ask("process/write", { processId: "p", chunk, writeId: "1" }));
  await until("some output", () => client.told("process/output").length > 3);
  await cutInnerHop();
  const restarted = restartWorker();
  const again = client.ask("process/write", { processId: "p", chunk, writeId: "1" });
  expect((await client.answer(again)).result).toEqual({ status: "accepted" });
  await restarted;
  client.ask("process/write", { processId: "p", chunk, writeId: "2" });
  await until("the end", () => client.told("process/closed").length > 0);
  const expected = ["got hello", ...Array.from({ length: 25 }, (_, i) => `line ${i + 1}`), ""].join("\n");
  expect(textOf(client.told("process/output") as unknown as Chunk[])).toBe(expected);
  const seqs = client.messages.flatMap(({ params }) => params?.seq ?? []);
  expect(seqs).toEqual(seqs.map((_, i) => i + 1));
  // A text may hold what some take for a line's end. Nobody comes back for what it leaves running.
  await client.answer(client.ask("process/start", { ...script("sleep 600"), processId: "q", arg0: "a\u2028b" }));
  client.child.stdin.end();
  expect(await within("its end", exitCode(client.child))).toBe(0);
  const running = async () => (await (await api(who, `/api/sandboxes/${box}/sessions`)).text()).includes('"running"');
  await until("nothing to run", async () => !(await running()));
});

test("E1: an address with a ticket needs no token; without either it says so and ends", async () => {
  const { url } = await codexUrl(await person(), fresh("box"));
  const client = new CodexCli(undefined, [], url);
  const { result } = await client.answer(client.ask("initialize", begin));
  expect(result).toMatchObject({ environmentInfo: { shell: { name: "bash" }, platformOs: "linux" } });
  const bad = new CodexCli(undefined, [], `${url}x`);
  expect(await within("the refusal", exitCode(bad.child))).toBe(255);
});

test("the configuration of codex for either way, and by the example in docs/programs.md", async () => {
  const who = await person();
  const bin = mkdtempSync(join(tmpdir(), "sbx-codex-bin-"));
  onTestFinished(() => rmSync(bin, { recursive: true, force: true }));
  installCli(bin, CLI, cliEnv(who));
  const program = await runCli(who, ["--sandbox", "dev", "--print-config", "program"], "", "codex");
  expect(program.stdout).toMatch(
    /^# .* -s danger-full-access.*\ndefault = "sbx"\n\n\[\[environments\]\]\nid = "sbx"\nprogram = "sbx-stdio"\nargs = \["codex", "http.*", "--sandbox", "dev"\]\n$/,
  );
  expect(guidedConfig(system.origin, bin)).toBe(program.stdout);
  const url = await runCli(who, ["--sandbox", "dev", "--print-config", "url"], "", "codex");
  expect(url.stdout).toMatch(/\nurl = "ws.*\/codex\/dev\?ticket=c\.[\w-]+"\n$/);
});
