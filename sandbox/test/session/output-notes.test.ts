import type { InnerServer, ProcessSession } from "sandbox-stdio/core";
import { expect, test } from "vitest";
import { OutputNotes } from "../../src/session/output-notes.ts";

test("What output says is told behind that output, even if that still waits for more of a flood", async () => {
  const told: string[] = [];
  // All that is used of it here.
  const session = { appended: () => told.push("output") } as unknown as ProcessSession;
  const inner = { note: ({ type }: { type: string }) => told.push(type) } as unknown as InnerServer;
  const notes = new OutputNotes(session, () => inner, { stopping: () => undefined });
  notes.commandEnded({ to: 7, exit: 0 });
  notes.attention({ kind: "bell", offset: 9 });
  await new Promise((resolve) => setImmediate(resolve));
  expect(told).toEqual(["output", "command_end", "output", "attention"]);
});
