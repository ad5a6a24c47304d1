// The attention webhook, with a real receiver on this machine: off by default, set by admins, signed, and delivered again.
import { createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { connect, type TestClient } from "../support/clients/client.ts";
import { api, fresh, type Person, person, restartWorker } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

const PATH = "/api/attention-webhook";
const SECRET = "a secret of 16 and more";

type Received = { readonly headers: IncomingMessage["headers"]; readonly body: string; readonly path: string };
const received: Received[] = [];
let answer: (response: ServerResponse) => void = () => undefined;
let url = "";
const receiver = createServer((request, response) => {
  let body = "";
  request.setEncoding("utf8").on("data", (text: string) => {
    body += text;
  });
  request.on("end", () => {
    received.push({ headers: request.headers, body, path: request.url ?? "" });
    answer(response);
  });
});

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
});
afterAll(() => new Promise((resolve) => receiver.close(resolve)));
beforeEach(() => {
  received.length = 0;
  answer = (response) => void response.writeHead(204).end();
});

async function ask(who: Person, method: string, body?: unknown) {
  const response = await api(who, PATH, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const text = await response.text();
  return { status: response.status, text, body: (text === "" ? {} : JSON.parse(text)) as Record<string, unknown> };
}

/** A tenant's admin and driver, and a terminal that says what is typed to it. */
async function tenant() {
  const admin = await person({ scope: "sandbox:admin sandbox:exec" });
  const session = fresh("s");
  const client = await connect(admin, {
    session,
    cmd: "sh",
    arg: ["-c", "stty raw -echo; echo ready; exec cat"],
    tty: 1,
  });
  await client.output("ready");
  const { incarnation } = await client.hello();
  return { admin, session, client, incarnation };
}

const notify = (client: TestClient, text: string) => client.type(`\x1b]9;${text}\x07`);

test("it is off by default, an admin alone sets and sees it, and its secret is shown to nobody", async () => {
  const { admin, client } = await tenant();
  notify(client, "before");
  await client.message("attention");
  expect((await ask(admin, "GET")).body).toEqual({ url: null });
  const driver = await person({ org: admin.org, scope: "sandbox:exec" });
  for (const method of ["GET", "PUT", "DELETE"]) {
    expect(await ask(driver, method, method === "PUT" ? { url, secret: SECRET } : undefined)).toMatchObject({
      status: 403,
    });
  }
  for (const bad of [
    { url: "https://10.0.0.1/", secret: SECRET },
    { url, secret: "short" },
    { url },
    { secret: SECRET },
  ]) {
    expect(await ask(admin, "PUT", bad)).toMatchObject({ status: 400, body: { error: "bad_request" } });
  }
  const put = await ask(admin, "PUT", { url, secret: SECRET });
  expect([put.status, put.body]).toEqual([200, { url, waiting: 0 }]);
  const shown = await ask(admin, "GET");
  expect([shown.body, shown.text.includes(SECRET)]).toEqual([{ url, waiting: 0 }, false]);
  expect((await ask(await person({ scope: "sandbox:admin" }), "GET")).body).toEqual({ url: null });
  expect((await ask(admin, "DELETE")).status).toBe(204);
  expect((await ask(admin, "GET")).body).toEqual({ url: null });
  await ask(admin, "PUT", { url, secret: SECRET });
  expect((await ask(admin, "PUT", { url: null })).body).toEqual({ url: null });
  expect(received).toEqual([]);
  const audit = (await (await api(admin, "/api/audit")).json()) as { records: { type: string; url?: string }[] };
  const deeds = audit.records.filter(({ type }) => type === "webhook").map((record) => record.url);
  expect(deeds).toEqual([url, "", url, ""]);
});

test("a call for attention is posted, signed over time and body, and is delivered again until it is taken", async () => {
  const { admin, session, client, incarnation } = await tenant();
  await ask(admin, "PUT", { url, secret: SECRET });
  // The first answer is lost on its way, the second says that it was taken.
  answer = (response) => {
    if (received.length === 1) response.socket?.destroy();
    else response.writeHead(200).end("thanks");
  };
  notify(client, "Done: all 12 tests");
  const told = await client.message("attention");
  await until("the first try", () => received.length >= 1);
  // What waits survives every life of the tenant's object.
  await restartWorker();
  await until("the second try", () => received.length >= 2).catch(async (error: unknown) => {
    throw new Error(`The webhook is ${(await ask(admin, "GET")).text}`, { cause: error });
  });
  const ids = new Set(received.map(({ headers }) => headers["x-stdio-delivery"]));
  expect(ids.size).toBe(1);
  for (const { headers, body } of received) {
    const time = String(headers["x-stdio-timestamp"]);
    expect(Math.abs(Number(time) - Date.now() / 1000)).toBeLessThan(120);
    expect(headers["x-stdio-signature"]).toBe(
      `v1=${createHmac("sha256", SECRET).update(`${time}.${body}`).digest("hex")}`,
    );
    expect(headers["content-type"]).toBe("application/json");
    expect(JSON.parse(body)).toEqual({
      type: "attention",
      id: headers["x-stdio-delivery"],
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      sandbox: "default",
      session,
      incarnation,
      kind: "notify",
      body: "Done: all 12 tests",
      offset: told.offset,
    });
  }
  const state = await until("the end", async () => {
    const { body } = await ask(admin, "GET");
    return body.waiting === 0 && body;
  });
  expect(state).toMatchObject({ last: { outcome: "delivered", status: 200 } });
});

test("a redirect is not followed, and is given up", async () => {
  const { admin, client } = await tenant();
  await ask(admin, "PUT", { url, secret: SECRET });
  answer = (response) => void response.writeHead(307, { Location: `${url}/elsewhere` }).end();
  notify(client, "look");
  const state = await until("the end", async () => {
    const { body } = await ask(admin, "GET");
    return body.last !== undefined && body;
  });
  expect(state).toMatchObject({ waiting: 0, last: { outcome: "given_up", status: 307 } });
  expect(received.map(({ path }) => path)).toEqual(["/hook"]);
});
