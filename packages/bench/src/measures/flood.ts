// A separate process that attaches to a flood, so that the measuring process does no other work. Takes a TerminalSpec as its
// argument; prints `ready` at the first byte and the throughput once its standard input ends.

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
