// How much the bridge keeps of sessions that have ended.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseOrder } from "sandbox-stdio/programs";
import { expect, onTestFinished, test } from "vitest";
import { readSettings } from "../../src/base/settings.ts";
import { Registry } from "../../src/server/registry.ts";

const MIB = 1024 * 1024;

/** A registry that keeps so much of ended sessions. @returns What starts one in it, too. */
function registryOf(keptBytes: number) {
  const root = mkdtempSync(join(tmpdir(), "bridge-registry-"));
  const read = readSettings({ SANDBOX_ROOT: root, HOST: "127.0.0.1", PORT: "0" }, "a secret of this test only");
  if (!read.ok) throw new Error(read.problem);
  const registry = new Registry(read.settings, keptBytes);
  onTestFinished(async () => {
    for (const host of [...registry.hosts]) {
      await host.kill();
      host.remove();
    }
    rmSync(root, { recursive: true, force: true });
  });
  const order = (session: string, script: string, more: object = {}) => {
    const wish = { cmd: "sh", args: ["-c", script], env: [], tty: false, mode: "collaborative", keep: 60, ...more };
    const parsed = parseOrder(
      JSON.stringify({ label: "box", session, ...wish, keepExited: 0, stdin: "", isStdinEnded: true }),
    );
    if ("detail" in parsed) throw new Error(parsed.detail);
    return registry.order({ sandbox: "box", label: "box", session }, parsed);
  };
  const start = (session: string, script: string, tty = false) => {
    const found = order(session, script, { tty });
    if (!found.ok) throw new Error(found.detail);
    return found.host;
  };
  return { registry, start, order };
}

test("X5: of ended sessions 64 MiB are kept: those that ended first are forgotten, no other ones", async () => {
  const { registry, start } = registryOf(3 * MIB);
  start("running", `head -c ${MIB} /dev/zero; exec sleep 1000`);
  const names = Array.from({ length: 8 }, (_, i) => `ended-${i}`);
  for (const name of names) await start(name, `head -c ${MIB} /dev/zero`).exited;
  expect(registry.list("box").map(({ session }) => session)).toEqual(["running", "ended-6", "ended-7"]);
  // Small ones cost something, too.
  for (let i = 0; i < 160; i += 1) await start(`small-${i}`, "true").exited;
  expect(registry.list("box").length).toBeLessThanOrEqual(1 + (3 * MIB) / (20 * 1024));
  expect(registry.find("box", "small-159")?.state).toBe("exited");
});

test("X5: a terminal's screen counts: 2,000 lines of 80 columns take more than the output that filled them", async () => {
  const { registry, start } = registryOf(6 * MIB);
  for (let i = 0; i < 5; i += 1) await start(`ended-${i}`, "seq 100000", true).exited;
  expect(registry.list("box").map(({ session }) => session)).toEqual(["ended-3", "ended-4"]);
});

test("P1: the logs of running processes have at most 256 MiB, and what has ended makes room for them", async () => {
  const { registry, start, order } = registryOf(64 * MIB);
  await start("ended", `head -c ${MIB} /dev/zero`).exited;
  const big = (i: number) => order(`big-${i}`, "exec sleep 1000", { logBytes: 8 * MIB });
  const sizes = Array.from({ length: 32 }, (_, i) => big(i)).map(
    (found) => found.ok && found.host.session.log.capacityBytes,
  );
  expect(new Set(sizes)).toEqual(new Set([8 * MIB]));
  expect(big(32)).toMatchObject({ ok: false, fault: "logs_full" });
  expect(registry.find("box", "ended")).toBeUndefined();
  await registry.find("box", "big-0")?.kill();
  expect(big(32)).toMatchObject({ ok: true });
});
