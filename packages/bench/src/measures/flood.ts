// A client in a process of its own that watches a flood, so that the one that measures has only its own work to do.
// Reads a TerminalSpec from its arguments; says `ready`, and at its end how many bytes a second came.

import { exit } from "../../../sbx-cli/src/exit.ts";
import { openTerminal, type TerminalSpec } from "../subjects/terminal.ts";

const spec = JSON.parse(process.argv[2] ?? "") as TerminalSpec;
const terminal = await openTerminal(spec);
let bytes = 0;
let startedAt = 0;
terminal.onOutput = (chunk) => {
  if (startedAt === 0) {
    startedAt = performance.now();
    process.stdout.write("ready\n");
  }
  bytes += chunk.length;
};
process.stdin.on("end", () => {
  process.stdout.write(
    `${JSON.stringify({ megabytesPerSecond: bytes / 1000 / (performance.now() - startedAt) })}\n`,
    () => {
      terminal.close();
      setTimeout(() => exit(0), 100);
    },
  );
});
process.stdin.resume();
