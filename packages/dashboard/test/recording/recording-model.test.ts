// The recording on the page: what is asked of the server, and where the ways through it lead.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { readPageAddress, withSession } from "../../src/app/page-address.ts";
import { matchAt, RecordingModel } from "../../src/recording/recording-model.ts";

const START = "2026-11-29T14:00:00.000Z";
const time = (seconds: number) => new Date(Date.parse(START) + seconds * 1000).toISOString();
const CAST = '{"version":3,"term":{"cols":80,"rows":24}}\n[0,"o","screen"]\n[10,"o","later"]\n';
const BASE = "/api/sandboxes/dev/sessions/main";

let asked: string[] = [];
let answers: Record<string, () => Response> = {};

beforeEach(() => {
  asked = [];
  answers = {
    [`${BASE}/recordings`]: () =>
      Response.json({
        recordings: [
          { incarnation: "i2", startedAt: START, endedAt: time(60), bytes: 9, seconds: 60 },
          { incarnation: "i1", startedAt: time(-600), bytes: 9, seconds: 60 },
        ],
      }),
    [`${BASE}/recording`]: () => new Response(CAST),
    [`${BASE}/commands`]: () =>
      Response.json({ commands: [10, 30].map((at) => ({ from: at * 100, startedAt: time(at), line: `make ${at}` })) }),
    [`${BASE}/recording/search`]: () =>
      Response.json({
        hits: [5, 40].map((at) => ({ offset: at * 100, time: time(at), line: "x" })),
        searchedTo: 9_000,
      }),
  };
  vi.stubGlobal("fetch", async (path: string) => {
    asked.push(path);
    return answers[path.split("?")[0] ?? ""]?.() ?? Response.json({ message: "no such route" }, { status: 404 });
  });
});
afterEach(() => void vi.unstubAllGlobals());

function model() {
  const shown: string[] = [];
  const made = new RecordingModel(
    { sandbox: "dev", session: "main" },
    { reset: () => shown.splice(0), show: (event) => void shown.push(event.type === "o" ? event.text : event.type) },
  );
  return { made, shown };
}
const froms = () =>
  asked.filter((path) => path.startsWith(`${BASE}/recording?`)).map((path) => new URL(path, "http://x").searchParams);
const settled = (of: RecordingModel) => vi.waitFor(() => expect(of.getState().commands.length).toBe(2));

test("opens the newest at its end, or the one of a link at its moment, within its ends", async () => {
  const { made, shown } = model();
  void made.open(undefined);
  await settled(made);
  await vi.waitFor(() => expect(shown).toEqual(["screen"]));
  expect(made.getState()).toMatchObject({ atMs: Date.parse(time(60)), endMs: Date.parse(time(60)), isPlaying: false });
  expect(froms().map((query) => query.get("from"))).toEqual([time(60)]);

  const { made: linked } = model();
  void linked.open({ atMs: Date.parse(time(9_999)), incarnation: "i2" });
  await settled(linked);
  expect(froms().at(-1)?.get("from")).toBe(time(60));
  const { made: running } = model();
  void running.open({ atMs: Date.parse(time(-300)), incarnation: "i1" });
  await settled(running);
  expect(froms().at(-1)?.get("follow")).toBe("1");
});

test("jumps from command to command, and from match to match, by offset", async () => {
  const { made } = model();
  void made.open({ atMs: 0, incarnation: "i2" });
  await settled(made);
  const at = () => [froms().at(-1)?.get("from"), (made.getState().atMs - Date.parse(START)) / 1000];
  made.jump("commands", 1);
  expect(at()).toEqual(["1000", 10]);
  made.jump("commands", 1);
  expect(at()).toEqual(["3000", 30]);
  expect(made.jump("commands", 1)).toBe(false);
  made.jump("commands", -1);
  expect(at()).toEqual(["1000", 10]);
  await made.find("x");
  expect(made.getState().hits?.length).toBe(2);
  expect(at()).toEqual(["4000", 40]);
  const shown = () => matchAt(made.getState().hits ?? [], made.getState().atMs);
  expect(shown()).toBe(2);
  made.jump("hits", -1);
  expect([...at(), shown()]).toEqual(["500", 5, 1]);
  made.seek(Date.parse(time(20)));
  expect(at()).toEqual([time(20), 20]);
  // An arrow key on the slider: a second, as a hundredth of it all is less.
  made.step(-1);
  expect(at()).toEqual([time(19), 19]);
  made.seek(Date.parse(time(0)));
  made.step(-1);
  expect([...at(), shown()]).toEqual([time(0), 0, 0]);
});

test("a link names session, time and process, looks on, and is read back; a new shell's address has none of it", async () => {
  const { made } = model();
  void made.open(undefined);
  await settled(made);
  made.seek(Date.parse(time(20)));
  const link = new URL(made.link("https://host.example/?sandbox=dev&session=main&cmd=x"));
  expect(Object.fromEntries(link.searchParams)).toEqual({
    sandbox: "dev",
    session: "main",
    role: "viewer",
    at: time(20),
    of: "i2",
  });
  const { moment, attachUrl } = readPageAddress(link.search, () => "new");
  expect(moment).toEqual({ atMs: Date.parse(time(20)), incarnation: "i2" });
  expect(attachUrl).toBe("/attach?sandbox=dev&role=viewer");
  expect(new URLSearchParams(withSession(link.search, "other")).has("at")).toBe(false);
  expect(readPageAddress("?at=soon&of=../x", () => "new").moment).toBeUndefined();
  expect(readPageAddress(`?at=${time(0)}&of=../x`, () => "new").moment?.incarnation).toBeUndefined();
  expect(made.download).toBe(`${BASE}/recording?incarnation=i2`);
});

test("a visitor comes by the link's ticket, which goes in a header, and passes it on", async () => {
  const headers: unknown[] = [];
  const answer = globalThis.fetch;
  vi.stubGlobal("fetch", (path: string, init: RequestInit = {}) => {
    headers.push((init.headers as Record<string, string>)["X-Stdio-Ticket"]);
    return answer(path, init);
  });
  const made = new RecordingModel(
    { sandbox: "dev", session: "main" },
    { reset: () => undefined, show: () => undefined },
    { ticket: "s.x", startMs: Date.parse(START) },
  );
  void made.open({ atMs: Date.parse(time(20)), incarnation: undefined });
  await made.find("x");
  expect(made.getState().hits?.length).toBe(2);
  expect(asked.map((path) => path.split("?")[0])).toEqual([
    `${BASE}/recording`,
    `${BASE}/recording/search`,
    `${BASE}/recording`,
  ]);
  expect(headers).toEqual(["s.x", "s.x", "s.x"]);
  const link = new URL(made.link("https://host.example/"));
  expect([link.hash, link.searchParams.has("of"), made.download]).toEqual(["#ticket=s.x", false, undefined]);
  expect(readPageAddress(link.search, () => "new", "s.x").moment?.atMs).toBe(made.getState().atMs);
});

test("says what the server said: no recording, a refusal, a recording with lies in it", async () => {
  answers[`${BASE}/recordings`] = () => Response.json({ recordings: [] });
  const { made: none } = model();
  await none.open(undefined);
  expect(none.getState().fault).toBe("there is no recording");

  answers[`${BASE}/recordings`] = () => Response.json({ message: "needs sandbox:connect" }, { status: 403 });
  const { made: refused } = model();
  await refused.open(undefined);
  expect(refused.getState().fault).toBe("needs sandbox:connect");

  answers[`${BASE}/recordings`] = () => Response.json({ recordings: [{ incarnation: "i", startedAt: START }] });
  answers[`${BASE}/recording`] = () => new Response('{"version":3,"term":{"cols":1e9,"rows":1}}\n');
  const { made: lying } = model();
  await lying.open(undefined);
  expect(lying.getState().fault).toMatch(/^line 1 has a size that can't be/);
});
