// The Python sister of `@openai/agents-extensions`, by what it sends and what it takes for an answer (V1 to V5): each row is a request of
// its `CloudflareSandboxSession`, in the order of a run.
import { expect, test } from "vitest";
import { archive } from "../../../sandbox/test/files/hostile-archives.ts";
import { eventsOf } from "../support/agents/sandbox-api.ts";
import { foreign } from "../support/clients/foreign-client.ts";
import { shows } from "../support/generators/foreign-routes.ts";
import { api, person } from "../support/system/system.ts";

const BYTES = { "Content-Type": "application/octet-stream" };
const JSON_BODY = { "Content-Type": "application/json" };
/** Nothing but what aiohttp adds by itself: the body's length, and any kind of answer. */
const PLAIN = { Accept: "*/*", "Accept-Encoding": "gzip, deflate", "User-Agent": "Python/3.12 aiohttp/3.12.15" };

type Row = readonly [
  method: string,
  path: string,
  body: string | Buffer<ArrayBuffer> | undefined,
  headers: Readonly<Record<string, string>>,
  status: number,
  answer: (response: Response) => Promise<unknown>,
  wanted: unknown,
];

const json = (response: Response) => response.json();
const text = (response: Response) => response.text();
const code = async (response: Response) => ((await response.json()) as { code: string }).code;
const status = async ({ status }: Response) => status;
/** The client takes the first `exit`, and its streams are all before it. */
const exec = async (response: Response) =>
  eventsOf(await response.text()).map(({ event, data }) =>
    event === "exit" ? (JSON.parse(data) as unknown) : Buffer.from(data, "base64").toString(),
  );
const run = (argv: readonly string[], seconds = 30) => JSON.stringify({ argv, timeout_ms: seconds * 1000 });
const EXIT_0 = { exit_code: 0 };

const ROWS: readonly Row[] = [
  ["POST", "/exec", run(["mkdir", "-p", "--", "/workspace"]), JSON_BODY, 200, exec, [EXIT_0]],
  ["GET", "/running", undefined, {}, 200, json, { running: true }],
  ["POST", "/exec", run(["env", "A=it's", "sh", "-lc", "echo $A"]), JSON_BODY, 200, exec, ["it's\n", EXIT_0]],
  ["POST", "/exec", run(["no-such-program"]), JSON_BODY, 200, async (r) => (await exec(r)).at(-1), { exit_code: 127 }],
  ["PUT", "/file/workspace/a%20b.txt", "hello", BYTES, 200, json, { ok: true }],
  ["GET", "/file/workspace/a%20b.txt", undefined, {}, 200, text, "hello"],
  // A file that looks like its own old way to send files stays what it is.
  ["PUT", "/file/workspace/sse", "data: {}\n\n", BYTES, 200, json, { ok: true }],
  ["GET", "/file/workspace/sse", undefined, {}, 200, text, "data: {}\n\n"],
  ["GET", "/file/workspace/none", undefined, {}, 404, code, "not_found"],
  ["GET", "/file/etc/passwd", undefined, {}, 403, code, "outside"],
  ["PUT", "/file/etc/new", "x", BYTES, 403, code, "outside"],
  ["POST", "/persist?excludes=a+b.txt,sse", undefined, {}, 200, async (r) => (await r.arrayBuffer()).byteLength, 1024],
  ["POST", "/hydrate", archive({ name: "./in/file", content: "new" }), BYTES, 200, status, 200],
  ["GET", "/file/workspace/in/file", undefined, {}, 200, text, "new"],
  ["POST", "/mount", '{"bucket":"b","mountPath":"/workspace/m","options":{}}', JSON_BODY, 501, code, "unsupported"],
  ["POST", "/unmount", '{"mountPath":"/workspace/m"}', JSON_BODY, 501, code, "unsupported"],
  ["POST", "/session", '{"id":"s","cwd":"/tmp"}', JSON_BODY, 200, json, { id: "s" }],
  ["POST", "/exec", run(["pwd"]), { ...JSON_BODY, "Session-Id": "s" }, 200, exec, ["/tmp\n", EXIT_0]],
  ["POST", "/exec", run(["pwd"]), { ...JSON_BODY, "Session-Id": "t" }, 404, code, "no_session"],
];

test("a run of the Python client is answered as it wants, request by request", async () => {
  const who = await person();
  // Without a body, and without a kind of one.
  const made = await api(who, "/v1/sandbox", { method: "POST", headers: PLAIN });
  expect(made.status).toBe(200);
  const base = `/v1/sandbox/${((await made.json()) as { id: string }).id}`;
  for (const [method, path, body, headers, wantedStatus, answer, wanted] of ROWS) {
    const init = { method, headers: { ...PLAIN, ...headers }, ...(body === undefined ? {} : { body }) };
    const response = await api(who, base + path, init);
    const said = response.status === wantedStatus ? await answer(response) : await response.text();
    expect([method, path, response.status, said]).toEqual([method, path, wantedStatus, wanted]);
  }
  // It waits for `ready`, types a line, and takes the exit from a text.
  const client = await foreign(who, `${base}/pty?cols=80&rows=24`);
  await client.message("ready");
  client.socket.send(Buffer.from("sh -lc 'echo $((6*7))'; exit 5\n"));
  await shows(client, /42/);
  expect(await client.message("exit")).toEqual({ type: "exit", code: 5 });
  for (const wanted of [204, 404])
    expect((await api(who, base, { method: "DELETE", headers: PLAIN })).status).toBe(wanted);
});
