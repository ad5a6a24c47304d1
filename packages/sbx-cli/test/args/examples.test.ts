// The examples in the help: each is a line that a person may type, so the program must take it.

import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { describeProgram, parseArgs } from "../../src/args/args.ts";
import { EXAMPLES } from "../../src/args/examples.ts";
import { VERBS } from "../../src/args/first-word.ts";

/** The words that our program would get of each line, as bash reads it; without what bash does itself. */
function wordsOf(lines: readonly string[]): string[][] {
  const own = lines.map((line) => line.replace(/^.*?(?=sbx-stdio )/, "").replace(/ +(?:#|<|>>?) .*$/, ""));
  const script = `sbx-stdio() { printf '%s\\0' "$@"; printf '\\n\\n'; }\n${own.join("\n")}`;
  const said = execFileSync("bash", ["-c", script], { encoding: "utf8" });
  return said.split("\0\n\n").map((words) => words.split("\0"));
}

describe("the help teaches by examples", () => {
  const lines = Object.entries(EXAMPLES).flatMap(([verb, of]) => of.map((line) => ({ verb, line })));
  // ssh takes its proxy's words as one, and `mcp` reads its own.
  const readable = lines.filter(({ verb }) => verb !== "ssh-proxy" && verb !== "mcp");
  const all = wordsOf(readable.map(({ line }) => line));

  test.each(readable.map((one, i) => ({ ...one, words: all[i] ?? [] })))("$line", ({ verb, words }) => {
    if (verb !== "") expect(words[0]).toBe(verb);
    expect(() => parseArgs(words, "1.2.3", { server: "https://host" })).not.toThrow();
  });

  test("every verb that is shown has some, and its help shows them", () => {
    const program = describeProgram("1.2.3", { afterDashes: undefined }, {}, () => undefined);
    expect(Object.keys(EXAMPLES).sort()).toEqual(["", ...VERBS].sort());
    for (const command of program.commands) {
      let help = "";
      command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
      for (const line of EXAMPLES[command.name()] ?? []) expect(help).toContain(`\n  ${line}\n`);
    }
  });
});
