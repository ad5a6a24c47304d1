// `GET /metrics` of the running system: who may read it, and that it counts what clients do.
import { expect, test } from "vitest";
import { connect } from "../support/clients/client.ts";
import { api, fresh, person, system } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";
import { WORKER_VARS } from "../support/system/worker-vars.ts";

const { METRICS_TOKEN } = WORKER_VARS;

async function metrics(): Promise<Map<string, number>> {
  const response = await fetch(`${system.origin}/metrics`, { headers: { Authorization: `Bearer ${METRICS_TOKEN}` } });
  expect([response.status, response.headers.get("Content-Type")]).toEqual([
    200,
    expect.stringMatching(/^text\/plain;/),
  ]);
  const lines = (await response.text()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]));
}

/** What there is at a time: others' sessions, of earlier files, end meanwhile. */
const GAUGES: readonly string[] = ["sbx_stdio_sessions", "sbx_stdio_clients"];

/** Waits until every series has grown by at least so much, or is as much where it is a gauge. */
async function grew(before: Map<string, number>, by: Readonly<Record<string, number>>): Promise<void> {
  const missing = (now: Map<string, number>) =>
    Object.entries(by).filter(([name, least]) => {
      const from = GAUGES.includes(name) ? 0 : (before.get(name) ?? 0);
      return (now.get(name) ?? 0) - from < least;
    });
  await until(`${Object.keys(by).join(", ")} to grow`, async () => missing(await metrics()).length === 0);
}

test("only METRICS_TOKEN reads the metrics: no token of a person does, and no part of it", async () => {
  const admin = await person({ scope: "sandbox:admin" });
  const shown = [undefined, `Bearer ${admin.token}`, `Bearer ${METRICS_TOKEN.slice(0, -1)}`, `Basic ${METRICS_TOKEN}`];
  for (const authorization of shown) {
    const headers: Record<string, string> = authorization === undefined ? {} : { Authorization: authorization };
    const response = await fetch(`${system.origin}/metrics`, { headers });
    expect([authorization, response.status]).toEqual([authorization, 401]);
    expect(await response.text()).not.toContain("sbx_stdio_");
  }
  expect((await fetch(`${system.origin}/metrics?token=${encodeURIComponent(METRICS_TOKEN)}`)).status).toBe(401);
});

test("the metrics count sessions, clients, bytes, resumes, acknowledgements, refusals, and what was lost", async () => {
  const who = await person();
  const before = await metrics();
  const place = { sandbox: fresh("box"), session: "main" };
  const client = await connect(who, { ...place, cmd: "sh", tty: 1, arg: ["-c", "seq 20000; exec cat"] });
  const hello = await client.hello();
  await client.until("the flood", () => client.text().includes("20000\r\n"));
  await grew(before, {
    sbx_stdio_sessions: 1,
    sbx_stdio_clients: 1,
    sbx_stdio_sessions_started_total: 1,
    sbx_stdio_attaches_total: 1,
    sbx_stdio_sent_bytes_total: 100_000,
    sbx_stdio_received_bytes_total: 10,
    sbx_stdio_ack_seconds_count: 1,
    'sbx_stdio_ack_seconds_bucket{le="+Inf"}': 1,
  });
  client.drop();
  const { offset } = client;
  const again = await connect(who, { ...place, resume: String(hello.resume), offset, stdin: 0 });
  await again.hello();
  await expect(connect(who, { ...place, cols: "wide" }, { protocols: [] })).rejects.toThrow("HTTP 400");
  await grew(before, { sbx_stdio_resumes_total: 1, 'sbx_stdio_refusals_total{code="4400"}': 1 });
  const alive = (await metrics()).get("sbx_stdio_sessions_exited_total") ?? 0;
  await api(who, `/api/sandboxes/${place.sandbox}/sessions/main`, { method: "DELETE" });
  await until("the end to be counted", async () => (await metrics()).get("sbx_stdio_sessions_exited_total") !== alive);
});

test("no name, person, token or output is anywhere in the metrics", async () => {
  const who = await person();
  const before = await metrics();
  const place = { sandbox: fresh("secretbox"), session: fresh("secretname") };
  const client = await connect(who, { ...place, cmd: "sh", arg: ["-c", "echo secretoutput; exec cat"] });
  await client.until("output", () => client.text().includes("secretoutput"));
  await client.leave();
  await grew(before, { sbx_stdio_attaches_total: 1 });
  const response = await fetch(`${system.origin}/metrics`, { headers: { Authorization: `Bearer ${METRICS_TOKEN}` } });
  const text = await response.text();
  for (const secret of [place.sandbox, place.session, who.sub, who.org, who.token, "secretoutput", METRICS_TOKEN]) {
    expect(text).not.toContain(secret);
  }
});
