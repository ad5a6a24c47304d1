// `logBytes` over the whole path: how much output is held, in the bridge and in the session object, and what may be in flight.
import { expect, test } from "vitest";
import { runCli } from "../support/clients/cli.ts";
import { connect } from "../support/clients/client.ts";
import { Programs } from "../support/clients/programs.ts";
import { runResuming } from "../support/clients/resuming-client.ts";
import { fresh, person, restartWorker } from "../support/system/system.ts";

const MIB = 1024 * 1024;
const SMALL = 100_000;
const WRITTEN = 300_000;
const SCRIPT = `head -c ${WRITTEN} /dev/zero | tr '\\0' x; exec cat`;

test("P1: of a log of 100,000 bytes so much is held, and 7/16 of it may be in flight, however it was asked for", async () => {
  const at = new Programs(await person());
  const { who, sandbox } = at;
  const words = ["--sandbox", sandbox, "--session", "cli", "--log-bytes", String(SMALL), "--detach", "--"];
  await connect(who, { sandbox, session: "query", cmd: "sh", arg: ["-c", SCRIPT], delivery: "live", logBytes: SMALL });
  await at.put("body", { cmd: "sh", args: ["-c", SCRIPT], logBytes: SMALL });
  expect(await runCli(who, [...words, "sh", "-c", SCRIPT], "", "run")).toMatchObject({ code: 0, stderr: "" });
  const seen = async (session: string) => {
    const { window } = await (await connect(who, { sandbox, session, role: "viewer" })).hello();
    const { end, gap } = (await at.read(session)).body;
    return { window, end, start: gap?.to ?? (await at.read(session, { from: 0 })).body.gap?.to };
  };
  const expected = { window: 43_750, end: WRITTEN, start: WRITTEN - SMALL };
  for (const session of ["query", "body", "cli"]) await expect.poll(() => seen(session)).toEqual(expected);
  // Another object makes a log of the same size.
  await restartWorker();
  for (const session of ["query", "body", "cli"]) await expect.poll(() => seen(session)).toEqual(expected);
});

test("P1: with the smallest log a lossless client that comes back often gets each byte once", async () => {
  const input = Buffer.from(Array.from({ length: 2 * MIB }, (_, i) => (i * 7919) % 251));
  let next = 0;
  const { output, breaks } = await runResuming(
    await person(),
    { session: fresh("s"), cmd: "cat", logBytes: 65_536 },
    {
      input,
      progress: (received, _acked, client) => {
        if (received < next) return;
        next += 300_000;
        client.drop();
      },
    },
  );
  expect(output.equals(input)).toBe(true);
  expect(breaks.length).toBeGreaterThanOrEqual(5);
});
