// Push notices (K14), with a push service on this machine that decrypts as a browser does: RFC 8030, 8188, 8291 and 8292.
import { createDecipheriv, createECDH, createPublicKey, type ECDH, hkdfSync, randomBytes, verify } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Programs } from "../support/clients/programs.ts";
import { api, fresh, mint, type Person, person } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

type Received = { readonly path: string; readonly headers: IncomingMessage["headers"]; readonly body: Buffer };
const received: Received[] = [];
let origin = "";
/** The status of the service's answer, by path; 201 else. */
const answers = new Map<string, number[]>();
const service = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const path = request.url ?? "";
    received.push({ path, headers: request.headers, body: Buffer.concat(chunks) });
    response.writeHead(answers.get(path)?.shift() ?? 201).end();
  });
});

beforeAll(async () => {
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => service.close(resolve)));

/** A browser on a device: its keys, and its subscription as the page gives it. */
function device() {
  const keys = createECDH("prime256v1");
  const auth = randomBytes(16);
  const path = `/${fresh("device")}`;
  const p256dh = keys.generateKeys().toString("base64url");
  return { keys, auth, path, subscription: { endpoint: origin + path, p256dh, auth: auth.toString("base64url") } };
}

/** What a browser makes of a message (RFC 8291, section 3.4; RFC 8188). */
function decrypted({ body }: Received, keys: ECDH, auth: Buffer): string {
  const [salt, size, idLength] = [body.subarray(0, 16), body.readUInt32BE(16), body[20] ?? 0];
  const theirs = body.subarray(21, 21 + idLength);
  const info = Buffer.concat([Buffer.from("WebPush: info\0"), keys.getPublicKey(), theirs]);
  const material = Buffer.from(hkdfSync("sha256", keys.computeSecret(theirs), auth, info, 32));
  const derived = (what: string, length: number) =>
    Buffer.from(hkdfSync("sha256", material, salt, Buffer.from(`Content-Encoding: ${what}\0`), length));
  const sealed = body.subarray(21 + idLength);
  expect([idLength, sealed.length <= size]).toEqual([65, true]);
  const opening = createDecipheriv("aes-128-gcm", derived("aes128gcm", 16), derived("nonce", 12));
  opening.setAuthTag(sealed.subarray(-16));
  const record = Buffer.concat([opening.update(sealed.subarray(0, -16)), opening.final()]);
  expect(record.at(-1)).toBe(2);
  return record.subarray(0, -1).toString();
}

/** The claims of a VAPID header whose signature fits its key (RFC 8292). */
function vapid({ headers }: Received, publicKey: string) {
  const [, token = "", key = ""] = /^vapid t=([^,]+), k=(.+)$/.exec(String(headers.authorization)) ?? [];
  const point = Buffer.from(key, "base64url");
  const [x = "", y = ""] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString("base64url"));
  const jwk = createPublicKey({ key: { kty: "EC", crv: "P-256", x, y }, format: "jwk" });
  const [head = "", claims = "", signature = ""] = token.split(".");
  const isSigned = verify(
    "sha256",
    Buffer.from(`${head}.${claims}`),
    { key: jwk, dsaEncoding: "ieee-p1363" },
    Buffer.from(signature, "base64url"),
  );
  expect([isSigned, key]).toEqual([true, publicKey]);
  return JSON.parse(Buffer.from(claims, "base64url").toString()) as { aud: string; exp: number; sub: string };
}

const push = (who: Person, method: string, body?: object) =>
  api(who, "/api/push", { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
const publicKeyOf = async (who: Person) => ((await (await push(who, "GET")).json()) as { publicKey: string }).publicKey;
const sentTo = (path: string) => received.filter((one) => one.path === path);

async function asks(who: Person, reason: string, session = fresh("s")) {
  const at = new Programs(who);
  await at.put(session, { cmd: "cat", tty: true });
  expect((await at.ask("POST", `/sessions/${session}/keyboard`, { do: "ask", reason })).status).toBe(200);
  return { sandbox: at.sandbox, session };
}

test("R5c: a device is called with a signed, encrypted text that names the session alone", async () => {
  const agent = await person();
  const owner = await person({ org: agent.org });
  const { keys, auth, path, subscription } = device();
  const publicKey = await publicKeyOf(owner);
  expect((await push(owner, "PUT", subscription)).status).toBe(204);
  const stranger = await person();
  const elsewhere = device();
  await push(stranger, "PUT", elsewhere.subscription);
  const asked = await asks(agent, "a reason that stays here");
  await until("the call", () => sentTo(path).length === 1);
  const [call] = sentTo(path);
  if (call === undefined) throw new Error("no call");
  expect(JSON.parse(decrypted(call, keys, auth))).toEqual(asked);
  const { aud, exp, sub } = vapid(call, publicKey);
  expect([aud, sub.startsWith("https:")]).toEqual([origin, true]);
  expect(exp - Date.now() / 1000).toBeLessThan(86_400);
  expect(call.headers).toMatchObject({ "content-encoding": "aes128gcm", urgency: "high" });
  expect(Number(call.headers.ttl)).toBeGreaterThan(800);
  expect(sentTo(elsewhere.path)).toEqual([]);
});

test("R5c: a device that is gone is forgotten, and one that was taken back is not called", async () => {
  const who = await person();
  const [gone, stays, back] = [device(), device(), device()];
  for (const { subscription } of [gone, stays, back]) expect((await push(who, "PUT", subscription)).status).toBe(204);
  expect((await push(who, "DELETE", { endpoint: back.subscription.endpoint })).status).toBe(204);
  answers.set(gone.path, [410]);
  await asks(who, "first");
  await until("both calls", () => sentTo(stays.path).length === 1 && sentTo(gone.path).length === 1);
  await asks(who, "second");
  await until("the second ask", () => sentTo(stays.path).length === 2);
  expect([gone, back].map(({ path }) => sentTo(path).length)).toEqual([1, 0]);
});

test("R5c: endpoints elsewhere than in the public network, wrong keys and viewers are refused", async () => {
  const who = await person();
  const { subscription } = device();
  const wrong = [
    { endpoint: "https://10.0.0.1/x" },
    { endpoint: "http://push.example.com/x" },
    { endpoint: "https://metadata.google.internal/x" },
    { p256dh: "AAAA" },
    { auth: "short" },
    { more: 1 },
  ];
  for (const more of wrong) expect((await push(who, "PUT", { ...subscription, ...more })).status).toBe(400);
  const token = await mint({ sub: who.sub, org: who.org, scope: "sandbox:connect" });
  for (const method of ["GET", "PUT", "DELETE"]) {
    expect((await push({ ...who, token }, method, method === "GET" ? undefined : subscription)).status).toBe(403);
  }
});

test("R5c: a person whose access is revoked is called no more", async () => {
  const admin = await person({ scope: "sandbox:admin" });
  const [leaver, stayer] = [await person({ org: admin.org }), await person({ org: admin.org })];
  const [left, stays] = [device(), device()];
  await push(leaver, "PUT", left.subscription);
  await push(stayer, "PUT", stays.subscription);
  const revoked = await api(admin, "/api/revocations", { method: "POST", body: JSON.stringify({ sub: leaver.sub }) });
  expect(revoked.status).toBe(204);
  await asks(stayer, "go on?");
  await until("the call", () => sentTo(stays.path).length === 1);
  expect(sentTo(left.path)).toEqual([]);
});
