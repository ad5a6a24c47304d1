// Clients without acknowledgements that stop reading: what they cost, and that they are closed.
import { expect, test } from "vitest";
import { connect } from "../support/clients/client.ts";
import { foreign } from "../support/clients/foreign-client.ts";
import { addonPath, jsonPath } from "../support/generators/foreign-routes.ts";
import { namedInGroup, residentBytes } from "../support/system/processes.ts";
import { api, fresh, person, pids } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

const MIB = 1024 * 1024;
const VIEWERS = 52;

test("W11: 52 viewers that don't read are closed, and a flood costs the Worker no more than it allows for all of them", {
  timeout: 180_000,
}, async () => {
  const who = await person();
  const sandbox = fresh("box");
  // More than they take, which is nothing, and less than a machine can: all that counts comes within a minute.
  const flood = `yes ${"x".repeat(200)} | while head -c 1000000; do sleep 0.4; done`;
  const driver = await connect(who, { sandbox, session: "main", tty: 1, cmd: "sh", arg: ["-c", flood] });
  await driver.hello();
  const path = (i: number) =>
    [
      `/attach?sandbox=${sandbox}&session=main&role=viewer`,
      addonPath(sandbox, { role: "viewer" }),
      `${jsonPath(sandbox)}&role=viewer`,
    ][i % 10 === 0 ? 2 : i % 2] ?? "";
  const viewers = await Promise.all(Array.from({ length: VIEWERS }, (_, i) => foreign(who, path(i))));
  for (const viewer of viewers) viewer.socket.pause();
  const { worker } = await pids();
  const ids = namedInGroup("workerd", worker);
  const resident = () => ids.map(residentBytes).reduce((sum, bytes) => sum + bytes, 0);
  const before = resident();
  let highest = before;
  const count = async () => {
    const response = await api(who, `/api/sandboxes/${sandbox}/sessions/main`);
    highest = Math.max(highest, resident());
    return ((await response.json()) as { clients: number }).clients;
  };
  await until("the viewers to be gone", async () => (await count()) === 1, 120_000);
  console.log(`workerd: grown by ${Math.round((highest - before) / MIB)} MiB at most`);
  expect(highest - before).toBeLessThan(450 * MIB);
  const [first] = viewers;
  first?.socket.resume();
  expect(await first?.end()).toMatchObject({ code: 1011 });
});
