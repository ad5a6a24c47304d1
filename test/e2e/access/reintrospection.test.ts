// A token that is taken back at its issuer while its bearer is connected. Only the issuer can tell, so it is asked again every
// minute; on a system of its own, whose clock runs faster than the issuer's.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROOT } from "../../../packages/local/src/base/paths.ts";
import { approveDevice } from "../../../packages/local/src/issuer/approve.ts";
import { CLI_CLIENT_ID } from "../../../packages/local/src/issuer/tokens.ts";
import { connect, refusedHttp } from "../support/clients/client.ts";
import { type System, startSystem } from "../support/system/own-system.ts";
import { fresh, type Person } from "../support/system/system.ts";

/** Seconds of the sessions' clock in a real one: the minute after which a token is asked about again takes 6 s. */
const SPEED = 10;

let system: System;
const dir = mkdtempSync(join(tmpdir(), "sbx-opaque-"));

beforeAll(async () => {
  system = await startSystem({
    dir,
    accessTokens: "opaque",
    workerEntry: join(ROOT, "worker/test/chaos-entry.ts"),
    workerVars: { CHAOS_SPEED: String(SPEED) },
  });
});

afterAll(async () => {
  await system?.stop();
  rmSync(dir, { recursive: true, force: true });
});

async function post(path: string, form: Record<string, string>): Promise<Record<string, string>> {
  const response = await fetch(`${system.issuerUrl}${path}`, { method: "POST", body: new URLSearchParams(form) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return text === "" ? {} : (JSON.parse(text) as Record<string, string>);
}

/** Signs in as the command line does. */
async function signIn(sub: string): Promise<Person> {
  const client = { client_id: CLI_CLIENT_ID };
  const asked = await post("/oauth/device", { ...client, scope: "sandbox:connect sandbox:exec" });
  await approveDevice(system.issuerUrl, asked.user_code ?? "", { sub });
  const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
  const given = await post("/oauth/token", { ...client, grant_type, device_code: asked.device_code ?? "" });
  return { sub, org: "", token: given.access_token ?? "" };
}

test("an opaque token that is revoked at its issuer ends its connection within the minute, and no other of its user", async () => {
  const sub = fresh("person");
  const [revoked, good] = [await signIn(sub), await signIn(sub)];
  expect(revoked.token).toMatch(/^at_/);
  const session = fresh("s");
  const options = { protocols: [], server: system.origin.replace(/^http/, "ws") };
  const client = await connect(revoked, { session, cmd: "cat" }, options);
  const other = await connect(good, { session }, options);
  client.type("one");
  await other.output("one");

  await post("/oauth/revoke", { client_id: CLI_CLIENT_ID, token: revoked.token });
  expect(await client.end()).toMatchObject({ code: 4401, reason: "the token is not valid any more" });
  expect((await refusedHttp(revoked, { session }, options)).status).toBe(401);
  // Its own token was asked about at the same time.
  other.type("two");
  await other.output("onetwo");
});
