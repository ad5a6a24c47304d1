// What a snapshot says of modes that the emulator itself does not know, and of those that a killed program left on.

import { expect, test } from "vitest";
import { Emulator } from "../../src/screen/emulator.ts";

const SIZE = { cols: 20, rows: 5 };

function drawn(output: string): string {
  const emulator = new Emulator(SIZE, 0, true);
  emulator.write(new TextEncoder().encode(output), SIZE);
  return new TextDecoder().decode(emulator.draw().bytes);
}

test("K10: a killed program's mouse is off in a snapshot once the shell's mark has shown its end", () => {
  const program = "\x1b]133;C\x07\x1b[?1003;1006;1004h";
  expect(drawn(program)).toContain("\x1b[?1003h");
  const after = drawn(`${program}\x1b]133;D;137\x07\x1b]133;A\x07$ `);
  for (const mode of [1003, 1006, 1004]) expect(after).not.toContain(`\x1b[?${mode}h`);
  expect(drawn(`\x1b[?1003h${program}\x1b]133;D;137\x07$ `)).toContain("\x1b[?1003h");
});

test("K10: a killed program's keyboard flags are off too, but not those that were on before it or came after", () => {
  const ended = "\x1b]133;D;137\x07\x1b]133;A\x07$ ";
  expect(drawn(`\x1b]133;C\x07\x1b[>7u\x1b[?9001h${ended}`)).not.toMatch(/\[[>=]\d+u|9001h/);
  expect(drawn(`\x1b[=5u\x1b]133;C\x07\x1b[=7u${ended}`)).toContain("\x1b[=7u");
  expect(drawn(`\x1b]133;C\x07\x1b[>7u${ended}\x1b[=5u`)).toContain("\x1b[=5u");
});

test("17: kitty's flags come to the screen that they were set on, whichever is shown", () => {
  const [flags, others] = ["\x1b[=1u\x1b[>2u", "\x1b[=4u"];
  expect(drawn(`${flags}\x1b[?1049h${others}`)).toMatch(
    new RegExp(`${quoted(flags)}.*\\[\\?47h.*${quoted(others)}`, "s"),
  );
  expect(drawn(`${flags}\x1b[?1049h${others}\x1b[?1049l`)).toMatch(
    new RegExp(`\\[\\?47h[^l]*${quoted(others)}\x1b\\[\\?47l.*${quoted(flags)}`, "s"),
  );
});

test("17: modes that neither the emulator nor a list of ours knew come with a snapshot", () => {
  const modes = ["\x1b[?69h", "\x1b[?9001h", "\x1b[>1;3m", "\x1b[2h", "\x1b[1;2'z"];
  const snapshot = drawn(modes.join(""));
  for (const mode of modes) expect(snapshot).toContain(mode);
});

function quoted(text: string): string {
  return text.replace(/[[\]?\\]/g, "\\$&");
}
