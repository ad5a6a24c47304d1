// A look at the machine's processes is shared by all who ask before it begins.

import { expect, test } from "vitest";
import { askForMembers, askForMembersSoon, type Members } from "../../src/process/members.ts";
import { start } from "../support/process-harness.ts";

test.each([
  { ask: askForMembers, when: "at once" },
  { ask: askForMembersSoon, when: "soon" },
])(
  "those who ask $when share one look, and a process that was started after the first asked is in it",
  async ({ ask }) => {
    const asked = () => new Promise<Members>((told) => ask(told));
    const first = asked();
    const { child, exited } = start(["sleep", "60"], { tty: true });
    const second = asked();
    expect(await first).toBe(await second);
    expect((await first).get(child.pid)).toEqual([child.pid]);
    child.signalAll("SIGHUP");
    expect(await exited).toEqual({ code: 129, signal: "SIGHUP" });
    // One that is asked for later is another: what was forked since is in it.
    expect(await asked()).not.toBe(await first);
  },
);
