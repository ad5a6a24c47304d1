// The task that the real codex command line does in a sandbox while connections break: it edits a file, starts a test that waits for a
// line, types the line, and reads to the end.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { until } from "../system/wait.ts";
import { type Reply, runCodex, standInModel, type Turn } from "./codex.ts";

/** A folder that both codex and the sandbox have: the sandbox's processes run on this machine. */
export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "sbx-codex-work-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const PATCH = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: added.txt\n+hello\n*** End Patch\nEOF";

function taskOf(count: number): (turn: number, told: Turn) => Reply {
  const lines = `for i in $(seq 1 ${count}); do echo "line $i."; sleep 0.1; done`;
  const cmd = `read x; echo "got $x"; grep -q hello added.txt && ${lines}`;
  return (turn, { last, session }) => {
    if (turn === 0) return { tool: "exec_command", args: { cmd: PATCH } };
    if (turn === 1) return { tool: "exec_command", args: { cmd, tty: true, yield_time_ms: 500 } };
    if (turn === 2) return { tool: "write_stdin", args: { session_id: session, chars: "abc\n", yield_time_ms: 2_000 } };
    if (/Process exited with code|failed|[Uu]nknown process/.test(last) || turn > 500) return { text: "done" };
    const args = { session_id: session, chars: "", yield_time_ms: 5_000, max_output_tokens: 50_000 };
    return { tool: "write_stdin", args };
  };
}

export type TaskEnd = {
  readonly code: number | null;
  readonly out: string;
  /** What the model was told, all together. */
  readonly said: string;
  /** What it was told at last. */
  readonly last: string;
  /** The numbers of the lines, in the order in which they came. */
  readonly lines: readonly number[];
  readonly added: string;
};

/** @param breaks Breaks connections until the task is over, as it is told. Called once everything is under way. */
export async function runTask(
  environments: string,
  work: string,
  path: string[],
  count: number,
  breaks: (isOver: () => boolean) => Promise<unknown>,
): Promise<TaskEnd> {
  const model = await standInModel(taskOf(count));
  let isOver = false;
  const ran = runCodex(environments, model.url, work, path).finally(() => {
    isOver = true;
  });
  await until("the task to be under way", () => isOver || model.told.length >= 3);
  await breaks(() => isOver);
  const { code, out } = await ran;
  const said = model.told.map(({ last }) => last).join("\n");
  const lines = [...said.matchAll(/line (\d+)\./g)].map(([, number]) => Number(number));
  const added = readFileSync(join(work, "added.txt"), "utf8");
  return { code, out, said, last: model.told.at(-1)?.last ?? "", lines, added };
}
