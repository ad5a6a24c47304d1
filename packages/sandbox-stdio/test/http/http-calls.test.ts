// The library's calls over a network that loses answers: starts under a name make one process, also after a long sleep; and what
// it makes of answers that are none of the server's interface.

import { afterEach, expect, test, vi } from "vitest";
import { sandbox } from "../../src/entry/client.ts";

afterEach(() => void vi.useRealTimers());

type Reply = { readonly status: number; readonly body: object } | "lost";
const THERE = { status: 200, body: { session: "s", incarnation: "one" } };
const GONE = { status: 404, body: { error: "not_found", message: 'no session "s"' } };
const RAN = { status: 200, body: { session: "s", incarnation: "one", state: "exited" } };

/** A server that gives these answers to starts, and these to who asks for the session. @param sleepMs What each lost answer takes. */
function boxOf(starts: Reply[], looks: Reply[], sleepMs = 0) {
  vi.useFakeTimers({ toFake: ["Date"] });
  const asked: unknown[] = [];
  let looked = 0;
  const answer: typeof fetch = async (_url, { method, body } = {}) => {
    const isStart = method !== "GET";
    if (isStart) asked.push((JSON.parse(String(body)) as { incarnation?: string }).incarnation);
    else looked += 1;
    const reply = (isStart ? starts : looks).shift() ?? GONE;
    if (reply !== "lost") return Response.json(reply.body, { status: reply.status });
    vi.setSystemTime(Date.now() + sleepMs);
    throw new TypeError("fetch failed");
  };
  return { box: sandbox("https://host.example", { fetch: answer }), asked, looked: () => looked };
}

/** Both ways to start under a name. */
const ways = [
  ["run", (box: ReturnType<typeof sandbox>, more: object) => box.run({ session: "s", cmd: "x", ...more })],
  ["create", (box: ReturnType<typeof sandbox>, more: object) => box.session("s").create({ cmd: "x", ...more })],
] as const;

test.each(ways)("%s: after a lost answer the process that is there is meant, and no other", async (_way, start) => {
  const { box, asked } = boxOf(["lost", RAN], ["lost", THERE]);
  expect(await start(box, {})).toMatchObject({ incarnation: "one" });
  expect(asked).toEqual([undefined, "one"]);
});

test.each(ways)("%s: where none is there, it starts only while an ended one would be", async (_way, start) => {
  const early = boxOf(["lost", RAN], [GONE], 599_000);
  expect(await start(early.box, {})).toMatchObject({ incarnation: "one" });
  expect(early.asked).toEqual([undefined, undefined]);
  const late = boxOf(["lost", RAN], [GONE], 601_000);
  await expect(start(late.box, {})).rejects.toMatchObject({ name: "StdioError", code: "lost" });
  expect(late.asked).toHaveLength(1);
  const soon = boxOf(["lost", RAN], [GONE], 2_000);
  await expect(start(soon.box, { keepExitedSeconds: 1 })).rejects.toMatchObject({ code: "lost" });
  expect(soon.asked).toHaveLength(1);
});

test("what is refused before it is done is repeated without a look; a replaced one is known by its attempt", async () => {
  const busy = boxOf([{ status: 429, body: { error: "too_many" } }, RAN], []);
  await busy.box.run({ session: "s", cmd: "x" });
  expect([busy.asked, busy.looked()]).toEqual([[undefined, undefined], 0]);
  const replacing = boxOf(["lost", RAN], [THERE]);
  await replacing.box.run({ session: "s", cmd: "x", ended: "replace", attempt: "a" });
  expect(replacing.asked).toEqual([undefined, undefined]);
});

test("a start of a fresh name is not repeated, and one process that is meant is asked for again as it is", async () => {
  const fresh = boxOf(["lost", RAN], []);
  await expect(fresh.box.run({ cmd: "x" })).rejects.toMatchObject({ code: "unreachable" });
  await expect(fresh.box.create({ cmd: "x" })).resolves.toBeDefined();
  const known = boxOf(["lost", RAN], []);
  await known.box.run({ session: "s", incarnation: "one", cmd: "x" });
  expect([known.asked, known.looked()]).toEqual([["one", "one"], 0]);
});

/** What a call comes to with this answer, and how often it is made. */
async function answered(status: number, body: string) {
  let calls = 0;
  const answer: typeof fetch = async () => {
    calls += 1;
    return new Response(body, { status });
  };
  const box = sandbox("https://host.example", { retries: 1, fetch: answer });
  const code = await box
    .session("s")
    .describe()
    .then(
      () => "an answer",
      (error: { code: string }) => error.code,
    );
  return [code, calls];
}

test.each([
  [404, "<!doctype html>", "http_404", 1],
  [404, "", "http_404", 1],
  [302, "", "http_302", 1],
  [200, "<!doctype html>", "http_200", 1],
  // These may pass.
  [200, '{"session":"s', "unreachable", 2],
  [502, "<html>Bad gateway", "unreachable", 2],
  [502, "", "unreachable", 2],
])("HTTP %i with %j is %s, after %i calls", async (status, body, code, calls) => {
  expect(await answered(status, body)).toEqual([code, calls]);
});
