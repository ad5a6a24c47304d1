// The compiled program at a terminal: that it is the same one. `SBX_COMPILED=whole` (test:long) runs all tests of a terminal with it.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, test } from "vitest";
import { buildBinary } from "../../../local/src/build/binaries.ts";

const directory = mkdtempSync(join(tmpdir(), "sbx-compiled-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

// Read by the fixture of those tests, when it is loaded.
process.env.SBX_CLI_PROGRAM = await buildBinary("linux-x64", directory);
if (process.env.SBX_COMPILED === "whole") await import("./terminal.test.ts");
else {
  const [{ startServer }, { Terminal }] = await Promise.all([
    import("../fixture/server.ts"),
    import("../fixture/tmux.ts"),
  ]);

  test("a shell of the compiled program gets keys and the window's size, and ends with its code", async () => {
    const server = await startServer();
    const terminal = new Terminal();
    terminal.runCli(`${server.url} --cmd bash --arg --norc --arg --noprofile --env 'PS1=remote$ '`);
    await terminal.shows(/^remote\$/m);
    terminal.run("stty size");
    await terminal.shows(/^30 100$/m);
    terminal.run("exit 5");
    await terminal.shows(/^local\$ *$/m);
    terminal.run("echo code $?");
    await terminal.shows(/^code 5$/m);
    terminal.close();
    await server.close();
  });
}
