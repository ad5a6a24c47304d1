// The bridge over a real tmux: a session with panes, ordinary clients of it, and a connection to each pane.

import { expect, test } from "vitest";
import { attached, ofPane, panesOf, relayed, windowsOf } from "./bridge-client.ts";

test("B2: ordinary clients see tmux, and each pane is a terminal of its own with its own input and end", async () => {
  const main = await attached({ session: "main.1", panes: "1", cmd: "sh", cols: "120", rows: "30" });
  await main.until(() => main.output.includes("main~1"));
  const first = await ofPane("main.1:0", "first");
  await first.until(() => first.output !== "");
  first.type("echo $((40+2))-one\r");
  await first.until(() => first.output.includes("42-one"));
  await main.until(() => main.output.includes("42-one"));

  // Split as everybody does who knows tmux, by its keys.
  main.type("\u0002%");
  const second = await ofPane("main.1:1", "second");
  second.type("echo $((40+3))-two\r");
  await second.until(() => second.output.includes("43-two"));
  expect(first.output).not.toContain("43-two");
  expect(main.output).not.toContain("%output");

  second.type("exit\r");
  await second.until(() => second.messages.some(({ type }) => type === "exit"));
  first.type("echo $((40+4))-still\r");
  await first.until(() => first.output.includes("44-still"));

  // Who detaches leaves the session as it was.
  main.output = "";
  main.type("\u0002d");
  // tmux may drop input while it leaves the terminal.
  await main.until(() => /detached[\s\S]*main~1/.test(main.output));
  main.type("echo $((40+5))-again\r");
  await first.until(() => first.output.includes("45-again"));

  first.type("exit\r");
  await first.until(() => first.messages.some(({ type }) => type === "exit"));
  await main.until(() => main.messages.some(({ type }) => type === "exit"));
  expect(main.messages.find(({ type }) => type === "exit")?.code).toBe(0);
});

test("B2: who lets go of a pane leaves it running", async () => {
  const main = await attached({ sandbox: "other", session: "other", panes: "1", cmd: "sh" });
  await main.until(() => main.output.includes("other"));
  const pane = await ofPane("other:0", "pane-a", "other");
  pane.type("answer=42\r");
  await pane.until(() => pane.output.includes("answer=42"));
  pane.close();
  const again = await ofPane("other:0", "pane-b", "other");
  again.type("echo the-$answer\r");
  await again.until(() => again.output.includes("the-42"));
  again.close();
  main.close();
});

test("B8: a window's name that looks like an option of tmux is a name", async () => {
  const main = await relayed({ sandbox: "wire", session: "main", panes: "1", cmd: "sh", cols: "121" });
  await main.until(() => panesOf(main).length === 1);
  main.say({ type: "pane", action: "rename_window", window: windowsOf(main)[0]?.id, name: "-foo" });
  await main.until(() => windowsOf(main)[0]?.name === "-foo");
});
