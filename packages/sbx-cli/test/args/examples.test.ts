// The examples in the help: each is a line that a person may type, so the program must take it.

import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { describeProgram, parseArgs } from "../../src/args/args.ts";
import { EXAMPLES } from "../../src/args/examples.ts";
import { VERBS } from "../../src/args/first-word.ts";

/** The words that our program would get, as bash reads the line; without what bash does itself. */
function wordsOf(line: string): string[] {
  const own = line.replace(/^.*?(?=sbx-stdio )/, "").replace(/ +(?:#|<|>>?) .*$/, "");
  const script = `sbx-stdio() { printf '%s\\0' "$@"; }\n${own}`;
  return execFileSync("bash", ["-c", script], { encoding: "utf8" }).split("\0").slice(0, -1);
}

describe("the help teaches by examples", () => {
  const lines = Object.entries(EXAMPLES).flatMap(([verb, of]) => of.map((line) => ({ verb, line })));
  // ssh takes its proxy's words as one, and `mcp` reads its own.
  const readable = lines.filter(({ verb }) => verb !== "ssh-proxy" && verb !== "mcp");

  test.each(readable)("$line", ({ verb, line }) => {
    const words = wordsOf(line);
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
