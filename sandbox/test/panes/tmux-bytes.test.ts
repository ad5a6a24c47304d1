// A real tmux: each byte of a pane's output and input comes through once, also while control clients are killed.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { Random } from "../../../packages/local/src/base/random.ts";
import { Tmux } from "./tmux-harness.ts";

let tmux: Tmux | undefined;
afterEach(() => tmux?.close());

/** The first pane, drawn. */
async function started(command: readonly string[], isTerminal: boolean): Promise<Tmux> {
  const made = new Tmux(command, isTerminal);
  tmux = made;
  await made.until(() => made.output.has("%0"));
  return made;
}

describe.each([
  ["tmux -C on pipes", false],
  ["tmux -CC on a PTY", true],
])("%s", (_, isTerminal) => {
  test("B2: a pane's output is what its program wrote, byte for byte", async () => {
    const tmux = await started(["sh", "-c", "stty raw -echo; echo ready; read go; cat all; exec cat"], isTerminal);
    const bytes = new Random(3).bytes(300_000).map((byte) => (byte < 32 && byte % 3 > 0 ? byte + 32 : byte));
    const end = Buffer.from("-the end-");
    writeFileSync(join(tmux.directory, "all"), Buffer.concat([bytes, end]));
    await tmux.until(() => tmux.text("%0").includes("ready"));
    const before = tmux.text("%0").length;
    tmux.panes.session.write("%0", Buffer.from("\n"));
    await tmux.until(() => tmux.text("%0").endsWith("-the end-"));
    expect(Buffer.from(tmux.text("%0").slice(before), "latin1").equals(Buffer.concat([bytes, end]))).toBe(true);
  });

  test("B6: what is typed arrives once and in order, though control clients are killed on the way", async () => {
    const length = 40_000;
    const tmux = await started(
      ["sh", "-c", `stty raw -echo; echo ready; head -c ${length} >got; echo done; exec cat`],
      isTerminal,
    );
    // Earlier input would be edited as a line.
    await tmux.until(() => tmux.text("%0").includes("ready"));
    const typed = new Random(5).bytes(length);
    const { session } = tmux.panes;
    let sent = 0;
    let kills = 0;
    while ((tmux.taken.get("%0") ?? 0) < length) {
      if (sent < length) sent += session.write("%0", typed.subarray(sent, sent + 1_500));
      const taken = tmux.taken.get("%0") ?? 0;
      await tmux.until(() => (tmux.taken.get("%0") ?? 0) > taken);
      if (taken > (kills + 1) * 4_000 && tmux.panes.pid > 0) {
        kills++;
        killed(tmux.panes.pid);
      }
    }
    await tmux.until(() => tmux.text("%0").includes("done"));
    expect(readFileSync(join(tmux.directory, "got")).equals(Buffer.from(typed))).toBe(true);
    expect(tmux.lost.length).toBeGreaterThan(2); // On a busy machine much is taken at once.
    expect(tmux.taken.get("%0")).toBe(length);
  });
});

/** One that was killed may not be seen to have ended yet. */
function killed(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
