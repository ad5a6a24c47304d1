// Routes of the API beside the programs': a field that they do not know, or a body that is not UTF-8, is refused (R4a, R4b).
import { env } from "cloudflare:test";
import { expect, test } from "vitest";
import { newRealm } from "../auth/realm.ts";
import { ask } from "../support/ask.ts";

const realm = newRealm();
const settings = { ...env, ...realm.env, TENANT_CLAIM: "org_id" };

async function asked(method: string, path: string, body?: BodyInit): Promise<unknown> {
  const scope = "sandbox:connect sandbox:exec sandbox:admin";
  const Authorization = `Bearer ${await realm.sign({ scope, sub: "ada", org_id: "fields" })}`;
  const response = await ask(
    path,
    { method, headers: { Authorization }, ...(body === undefined ? {} : { body }) },
    settings,
  );
  const { error, message } = (await response.json()) as { error: string; message: string };
  return [response.status, error, message];
}

test.each([
  ["PUT", "/api/layout", { layouts: {} }, '"layouts": the nearest is "layout"'],
  ["PUT", "/api/push", { endpoint: "x", p256: 1 }, '"p256": the nearest is "p256dh"'],
  ["PUT", "/api/preferences", { preferences: {}, revison: 1 }, '"revison": the nearest is "revision"'],
  ["PUT", "/api/attention-webhook", { url: null, secrets: "" }, '"secrets": the nearest is "secret"'],
  ["POST", "/api/tickets", { session: "s", rol: "viewer" }, '"rol": the nearest is "role"'],
  ["POST", "/api/tickets?role=viewer", { session: "s" }, '"role" in the query: the nearest of the body is "role"'],
  ["POST", "/api/sandboxes/dev/sessions/s/share", { guest: true }, '"guest": the nearest is "guests"'],
  ["POST", "/api/revocations", { subject: "bob" }, '"subject": the nearest is "sub"'],
  ["GET", "/api/audit?from=3", undefined, '"from" in the query: the nearest is "after"'],
  ["GET", "/api/sandboxes?limit=3", undefined, '"limit" in the query: this takes none'],
  ["GET", "/api/layout?limit=3", undefined, '"limit" in the query: this takes none'],
  ["DELETE", "/api/attention-webhook?url=x", undefined, '"url" in the query: this takes none'],
])("R4a: %s %s with an unknown field is 400, with the nearest name", async (method, path, body, words) => {
  const text = body === undefined ? undefined : JSON.stringify(body);
  expect(await asked(method, path, text)).toEqual([400, "unknown_field", expect.stringContaining(words)]);
});

test("R4b: a body that is not UTF-8 is 400, and nothing of it is kept", async () => {
  const bytes = [...new TextEncoder().encode('{"layout":{"a":"'), 0xff, ...new TextEncoder().encode('"}}')];
  expect(await asked("PUT", "/api/layout", new Uint8Array(bytes))).toEqual([
    400,
    "bad_encoding",
    "The body is not UTF-8",
  ]);
});
