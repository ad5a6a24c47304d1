// The conformance kit against servers that are broken in one rule each: what does not find a broken rule proves nothing of a
// whole one. `npm run conformance` (test:long) runs it against ours. docs/proof/kit.csv says which check finds what: `-u` writes it.
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Check, runCheck } from "../../../packages/chaos/src/conformance/check.ts";
import { ALL_SERVER_CHECKS } from "../../../packages/chaos/src/conformance/main.ts";
import type { Target } from "../../../packages/chaos/src/conformance/probe.ts";
import { ROOT } from "../../../packages/local/src/base/paths.ts";
import { BREACHES, BrokenServer } from "../support/servers/broken-server.ts";
import { fresh, person, system } from "../support/system/system.ts";

const SIDE_BY_SIDE = 12;
/** For what a broken server never sends. On a busy machine even what a whole one sends is slow, and its absence would be another fault. */
const IMPATIENT_MS = 10_000;

const checksOf = (rule: string): Check<Target>[] => ALL_SERVER_CHECKS.filter(({ rules }) => rules.includes(rule));

test("each broken rule of a server is found by a check that is named for it", async () => {
  const { token } = await person({ scope: "sandbox:connect sandbox:exec" });
  const url = new URL(`${system.origin}/attach?sandbox=${fresh("kit")}`);
  const rows: string[] = [];
  const missed: string[] = [];
  const waiting = [...BREACHES];
  const work = async () => {
    for (let breach = waiting.shift(); breach !== undefined; breach = waiting.shift()) {
      const { rule, how } = breach;
      const server = await BrokenServer.listen(url, breach);
      let foundBy: Check<Target> | undefined;
      for (const check of checksOf(rule)) {
        const { fault } = await runCheck("broken", { url: server.url, token, limitMs: IMPATIENT_MS }, check);
        if (fault === undefined) continue;
        foundBy = check;
        break;
      }
      server.close();
      if (foundBy === undefined) missed.push(`${rule}: ${how}`);
      else rows.push([rule, how, foundBy.rules.join(" "), foundBy.title].map((cell) => `"${cell}"`).join());
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work));
  expect(missed).toEqual([]);
  const head = "rule,a server that is broken so,is found by the check of,which says";
  const table = `${[head, ...rows.sort()].join("\n")}\n`;
  await expect(table).toMatchFileSnapshot(join(ROOT, "docs/proof/kit.csv"));
});
