// The block "attacks" of SECURITY.md: what stops each attack of docs/attacks.json.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { withTable } from "../../packages/bench/src/base/table-file.ts";
import { ROOT } from "../../packages/local/src/base/paths.ts";

export type Attack = {
  readonly attack: string;
  readonly stops: string;
  /** By the end of a test file's path, without `.test.ts`: how the titles of its tests begin. */
  readonly tests: Readonly<Record<string, readonly string[]>>;
};

export const readAttacks = (): readonly { readonly where: string; readonly attacks: readonly Attack[] }[] =>
  JSON.parse(readFileSync(join(ROOT, "docs/attacks.json"), "utf8"));

function attacksBlock(): string {
  const sections = readAttacks().map(({ where, attacks }) => {
    const lines = attacks.map(({ attack, stops }) => `- ${attack}: ${stops}`);
    return [`### ${where}\n`, ...lines].join("\n");
  });
  return sections.join("\n\n");
}

/** The page, with the block as the attacks are now. */
export const securityPage = (): string =>
  withTable(readFileSync(join(ROOT, "SECURITY.md"), "utf8"), attacksBlock(), "attacks");
