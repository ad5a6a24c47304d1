// Watching a growing log file for a line. Knows nothing of who writes it.
import { closeSync, openSync, readSync, watch } from "node:fs";

/**
 * Calls `onMatch` once, when a complete line that `pattern` matches has been appended to `file` since now.
 *
 * @returns Ends the watching.
 */
export function watchLog(file: string, pattern: RegExp, onMatch: (line: string) => void): () => void {
  const descriptor = openSync(file, "r");
  const chunk = Buffer.alloc(64 * 1024);
  let position: number | null = 0;
  let partial = "";

  const readOn = (): void => {
    for (;;) {
      if (position === null) return;
      const length = readSync(descriptor, chunk, 0, chunk.length, position);
      if (length === 0) return;
      position += length;
      // latin1: bytes in, bytes out, and the patterns are ASCII; a character cut in two does no harm.
      const lines = (partial + chunk.toString("latin1", 0, length)).split("\n");
      partial = lines.pop() ?? "";
      const match = lines.find((line) => pattern.test(line));
      if (match === undefined) continue;
      end();
      onMatch(match);
    }
  };
  const watcher = watch(file, { persistent: false }, readOn);
  const end = (): void => {
    if (position === null) return;
    position = null;
    watcher.close();
    closeSync(descriptor);
  };
  readOn();
  return end;
}
