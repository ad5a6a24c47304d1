// The calls of bridges in a Worker of somebody's own: by its class of containers, and with its names of bindings.
import { env } from "cloudflare:test";
import { Sandbox as SandboxOfTheSdk } from "@cloudflare/sandbox";
import { expect, test } from "vitest";
import type { Env } from "../../src/env.ts";
import { createStdio } from "../../src/library.ts";
import { BELL_HOST } from "../../src/sandbox/bell.ts";
import { containerToken } from "../../src/sandbox/secret.ts";

test("H20a: answerCallsOf has the calls of a class's containers come to the Worker's sessions, and leaves its other hosts alone", async () => {
  const stdio = createStdio({ authenticate: () => undefined, bindings: { SESSION: "TERMINALS" } });
  class Machine extends stdio.withStdio(SandboxOfTheSdk) {}
  const statics: Pick<typeof SandboxOfTheSdk, "outboundByHost"> = Machine as unknown as typeof SandboxOfTheSdk;
  const own = async () => new Response("theirs");
  statics.outboundByHost = { "db.internal": own };
  stdio.answerCallsOf(Machine);
  expect(Object.keys(statics.outboundByHost)).toEqual(["db.internal", BELL_HOST]);
  expect(statics.outboundByHost["db.internal"]).toBe(own);

  const called: string[] = [];
  const getByName = (name: string) => ({ called: async (incarnation: string) => void called.push(name + incarnation) });
  const STDIO_TOKEN = "the secret of the deployment";
  const { SESSION: _, ...rest } = env as unknown as Env;
  const theirs = { ...rest, TERMINALS: { getByName }, STDIO_TOKEN } as unknown as Cloudflare.Env;
  const session = "0123456789ab".repeat(5);
  const call = async (token: string) => {
    const headers = { Authorization: `Bearer ${token}` };
    const body = JSON.stringify({ session, incarnation: "i1" });
    const request = new Request(`http://${BELL_HOST}/`, { method: "POST", headers, body });
    const answer = await statics.outboundByHost?.[BELL_HOST]?.(request, theirs, { containerId: "one", className: "" });
    return answer?.status;
  };
  expect([await call(STDIO_TOKEN), called]).toEqual([401, []]);
  expect([await call(await containerToken({ STDIO_TOKEN }, "one")), called]).toEqual([200, [`${session}i1`]]);
});
