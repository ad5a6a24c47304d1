// The conformance kit against servers that are broken in one rule each: what does not find a broken rule proves nothing of a
// whole one. `npm run conformance` runs it against ours; `SBX_LOAD=full` (test:long) does so through the same proxy.
import { expect, test } from "vitest";
import { type Check, runCheck } from "../../../packages/chaos/src/conformance/check.ts";
import { ALL_SERVER_CHECKS } from "../../../packages/chaos/src/conformance/main.ts";
import type { Target } from "../../../packages/chaos/src/conformance/probe.ts";
import { BREACHES, BrokenServer } from "../support/servers/broken-server.ts";
import { fresh, person, system } from "../support/system/system.ts";

const SIDE_BY_SIDE = 6;
/** For what a broken server never sends. */
const IMPATIENT_MS = 1_000;

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
      let foundBy: string | undefined;
      for (const check of checksOf(rule)) {
        const { fault } = await runCheck("broken", { url: server.url, token, limitMs: IMPATIENT_MS }, check);
        if (fault === undefined) continue;
        foundBy ??= `${check.rules.join(" ")}: ${check.title}: ${fault}`;
        break;
      }
      server.close();
      if (foundBy === undefined) missed.push(`${rule}: ${how}`);
      rows.push(`${rule.padEnd(4)} ${how} | ${foundBy}`);
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work));
  console.log(rows.sort().join("\n"));
  expect(missed).toEqual([]);
});

if (process.env.SBX_LOAD === "full") {
  test("through the same proxy, with no rule broken, the checks hold", async () => {
    const { token } = await person({ scope: "sandbox:connect sandbox:exec" });
    const server = await BrokenServer.listen(new URL(`${system.origin}/attach?sandbox=${fresh("kit")}`), {
      rule: "",
      how: "",
    });
    const broken = new Set(BREACHES.map(({ rule }) => rule));
    const waiting = ALL_SERVER_CHECKS.filter(({ rules }) => rules.some((rule) => broken.has(rule)));
    const faults: string[] = [];
    const work = async () => {
      for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
        const { fault, title } = await runCheck("ours", { url: server.url, token }, check);
        if (fault !== undefined) faults.push(`${title}: ${fault}`);
      }
    };
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work));
    server.close();
    expect(faults).toEqual([]);
  });
}
