// What is left of a process whose container died (X7): readable by everybody, and never replaced without being asked.
import { expect, test } from "vitest";
import { sandboxKey } from "../../../worker/src/auth/names.ts";
import { attached, connect } from "../support/clients/client.ts";
import { foreign } from "../support/clients/foreign-client.ts";
import { api, fresh, person, restartBridge, sessionsInBridge, system } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

const LOST = { type: "bye", code: 4404, reason: "process lost", retry: "never" };
const PATH = "/api/sandboxes/default/sessions";

async function state(who: Awaited<ReturnType<typeof person>>, session: string) {
  const response = await api(who, `${PATH}/${session}`);
  return (await response.json()) as { state: string; incarnation: string; clients: number };
}

/** A session on a terminal whose process has drawn something, and was lost. */
async function lostTerminal(script: string, last: string) {
  const who = await person();
  const session = fresh("s");
  const client = await connect(who, { session, cmd: "bash", arg: ["-c", script], tty: 1, cols: 40, rows: 5 });
  await client.output(last);
  const { incarnation } = await client.hello();
  await client.leave();
  // The screen is looked at before the object lets go of the bridge.
  const tenant = { issuer: system.issuerUrl, tenantClaim: "org_id", tenantValue: who.org } as const;
  const query = new URLSearchParams({ sandbox: await sandboxKey(tenant, "default"), session });
  await until("the object to let go", async () => (await sessionsInBridge(query))[0]?.held === false);
  return { who, session, incarnation, text: client.text() };
}

test("X7: a new client gets what is left of a lost process, and bye 4404; no process is started", async () => {
  const { who, session, incarnation, text } = await lostTerminal("printf 'last words'; cat", "words");
  await restartBridge();
  for (const query of [{}, { ended: "read" }, { role: "viewer" }]) {
    const client = await attached(who, { session, ...query });
    expect(await client.hello()).toMatchObject({ incarnation, offset: 0, live: text.length });
    expect(await client.end()).toEqual({ exit: undefined, bye: LOST, code: 4404, reason: "process lost" });
    expect(client.text()).toBe(text);
  }
  const plain = await connect(who, { session }, { protocols: [] });
  expect((await plain.end()).code).toBe(4404);
  expect(plain.text()).toBe(text);
  expect(await state(who, session)).toMatchObject({ state: "lost", incarnation });
  const list = (await (await api(who, PATH)).json()) as { sessions: { session: string; state: string }[] };
  expect(list.sessions.map((one) => [one.session, one.state])).toEqual([[session, "lost"]]);
});

test("X7a: a viewer never starts a process, also where another product's session was lost", async () => {
  const who = await person();
  const addon = await foreign(who, "/ws/terminal?id=default&session=main");
  await until("its process", () => addon.received.some((one) => String(one).includes('"ready"')));
  const { incarnation } = await state(who, "main");
  addon.socket.close(1000);
  await until("nobody on it", async () => (await state(who, "main")).clients === 0);
  await restartBridge();
  // A bridge that is just back may not be reached at once (4503): who is told so comes back (R11).
  const end = await until("an answer of the new bridge", async () => {
    const told = await (await connect(who, { session: "main", role: "viewer" })).end();
    return told.code !== 4503 && told;
  });
  expect(end).toMatchObject({ bye: { code: 4404, retry: "never" } });
  const { sessions } = (await (await api(who, PATH)).json()) as { sessions: { state: string }[] };
  expect(sessions.filter((one) => one.state === "running")).toEqual([]);
  // For one that may start something the name is free, since such a session is forgotten at its end.
  const next = await foreign(who, "/ws/terminal?id=default&session=main");
  await until("its process", () => next.received.some((one) => String(one).includes('"ready"')));
  expect((await state(who, "main")).incarnation).not.toBe(incarnation);
});

test("S2, D5: after a loss the screen is there with its offset, and so are output, commands and the state", async () => {
  const script = "printf '\\e]0;Titel\\a\\e[2;3Hhere\\e]133;A\\a$ \\e]133;B\\a\\e]133;C\\ax\\e]133;D;3\\a'; cat";
  const { who, session, text } = await lostTerminal(script, "D;3\x07");
  await restartBridge();
  const get = async (path: string) => {
    const response = await api(who, `${PATH}/${session}/${path}`);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  expect(await get("output?from=0")).toMatchObject({ body: { state: "lost", output: text, end: text.length } });
  expect(await get(`output?from=${text.length}&waitMs=60000`)).toMatchObject({ body: { state: "lost", output: "" } });
  const screen = await get("screen?format=json");
  expect(screen).toMatchObject({ status: 200, body: { offset: text.length, title: "Titel", cols: 40, rows: 5 } });
  expect(screen.body.lines).toEqual(["", "  here$ x", "", "", ""]);
  expect((await get("commands")).body).toMatchObject({ commands: [{ exit: 3 }] });
  const waited = await api(who, `${PATH}/${session}/wait`, { method: "POST", body: '{"until":{"screen":"never"}}' });
  expect(await waited.json()).toMatchObject({ outcome: "lost" });
});
