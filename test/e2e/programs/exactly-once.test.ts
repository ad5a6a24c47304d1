// A small run of the exactly-once suite (packages/chaos/src/programs), while the inner hop is cut and the Worker is killed.
import { expect, test } from "vitest";
import { Suite } from "../../../packages/chaos/src/programs/suite.ts";
import { cutInnerHop, fresh, mint, person, restartWorker, system } from "../support/system/system.ts";

const IS_FULL = process.env.SBX_LOAD === "full";
const WRITES = IS_FULL ? 120 : 24;

test("W2, W3, T2: every byte is typed once, receipts are true, no wait is missed or early", async () => {
  const scope = "sandbox:connect sandbox:exec";
  const { org, token } = await person({ scope });
  const another = await mint({ sub: fresh("another"), org, scope });
  const suite = new Suite({
    url: new URL(system.origin),
    tokens: [token, another],
    writes: WRITES,
    programs: 4,
    seed: 1,
    cutChance: 0.4,
    sandbox: fresh("once"),
  });
  let disturbed = 0;
  await suite.run({
    names: ["disturbances"],
    everyMs: 400,
    disturb: async () => {
      disturbed += 1;
      if (disturbed === 3) await restartWorker();
      else await cutInnerHop();
    },
  });
  await suite.close();
  expect(suite.report.violations).toEqual([]);
  expect([suite.report.get("writes"), suite.report.get("cut during") > 0]).toEqual([WRITES, true]);
}, 240_000);

test("a session that is ended under the suite is what its run fails with, and no process", async () => {
  const { token } = await person({ scope: "sandbox:connect sandbox:exec" });
  const sandbox = fresh("once");
  const url = new URL(system.origin);
  const suite = new Suite({ url, tokens: [token], writes: 400, programs: 2, seed: 1, cutChance: 0, sandbox });
  const disturb = async (_: string, id: string, session: string) => {
    const headers = { Authorization: `Bearer ${token}` };
    await fetch(new URL(`/api/sandboxes/${id}/sessions/${session}`, url), { method: "DELETE", headers });
  };
  const running = suite.run({ names: ["ends"], everyMs: 50, disturb });
  await expect(running).rejects.toThrow("The output can't be read: 404");
  await suite.close();
});
