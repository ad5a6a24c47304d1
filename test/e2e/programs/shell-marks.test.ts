// What a shell and its programs say beside their output: marks of commands, and calls for attention.
import { expect, test } from "vitest";
import { connect } from "../support/clients/client.ts";
import { fresh, person } from "../support/system/system.ts";

const terminal = (more = {}) => ({ session: fresh("s"), tty: 1, cols: 80, rows: 24, ...more });

test("A2a: a bash without a script marks its commands, unless shell_integration=0, and is told as it was asked for", async () => {
  const alice = await person();
  const marked = await connect(alice, terminal({ cmd: "bash" }));
  await marked.output("\x1b]133;B\x07");
  marked.type("(exit 7)\r");
  expect(await marked.output("\x1b]133;D;7\x07")).toContain("\x1b]633;E;(exit 7)\x07\x1b]133;C\x07");
  const plain = await connect(alice, terminal({ cmd: "bash", shell_integration: 0 }));
  await plain.hello();
  plain.type("echo o''k\r");
  await plain.output("ok\r\n");
  plain.type("exit\r");
  await plain.end();
  expect(plain.text()).not.toContain("33;");
  const script = await connect(alice, terminal({ cmd: "bash", arg: ["-c", "echo done"] }));
  await script.end();
  expect(script.text()).toBe("done\r\n");
});
