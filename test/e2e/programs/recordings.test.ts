// Recordings over HTTP (G1 to G6, G8): real programs, read back as screens, as an asciicast and by search; and who may.

import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { recordingSchemas } from "@sbx/api";
import { expect, test } from "vitest";
import { type AuditRecord, recordsAt } from "../support/clients/audit.ts";
import { connect } from "../support/clients/client.ts";
import { Reference } from "../support/clients/reference-screen.ts";
import { api, fresh, type Person, person, restartWorker, system } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

type Answer = { readonly status: number; readonly body: Readonly<Record<string, unknown>> };

async function get(who: Person, session: string, path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await api(who, `/api/sandboxes/default/sessions/${session}${path && `/${path}`}`, init);
  const text = await response.text();
  return { status: response.status, body: text === "" ? {} : (JSON.parse(text) as Answer["body"]) };
}

type CastEvent = readonly [number, string, string];

function castOf(text: string) {
  const [header = "", ...lines] = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return {
    header: JSON.parse(header) as Record<string, unknown>,
    events: lines.map((line) => JSON.parse(line) as CastEvent),
  };
}

async function cast(who: Person, session: string, query = "") {
  const response = await api(who, `/api/sandboxes/default/sessions/${session}/recording${query}`);
  expect([response.status, response.headers.get("Content-Type")]).toEqual([200, "application/x-asciicast"]);
  return castOf(await response.text());
}

const outputOf = (events: readonly CastEvent[]) =>
  events.flatMap(([, code, data]) => (code === "o" ? [data] : [])).join("");

/** A terminal that shows what is typed to it, as it is. */
async function played(who: Person, size = { cols: 80, rows: 24 }, more: object = {}) {
  const session = fresh("rec");
  const script = "stty raw -echo; printf ready; exec cat";
  const client = await connect(who, { session, cmd: "sh", arg: ["-c", script], tty: 1, record: 1, ...size, ...more });
  await client.output("ready");
  return { session, client };
}

/** The output of a session, and its screen at an offset behind the last that was asked for. */
class Played {
  readonly #output: Uint8Array;
  readonly #reference: Reference;
  #fed = 0;

  constructor(output: Uint8Array, size: { readonly cols: number; readonly rows: number }) {
    this.#output = output;
    this.#reference = new Reference(size);
  }

  async at(offset: number) {
    await this.#reference.feed(this.#output.subarray(this.#fed, offset));
    this.#fed = offset;
    return { ...this.#reference.screen(), offset };
  }
}

const DIRECTORY = new URL("../../../sandbox/test/screen/recordings/", import.meta.url);
const fileOf = (name: string) => readFileSync(new URL(`${name}.bin`, DIRECTORY));
const sizeOf = (name: string) =>
  JSON.parse(readFileSync(new URL(`${name}.json`, DIRECTORY), "utf8")) as { cols: number; rows: number };

/** Each kilobyte of everything takes minutes. */
const isWhole = process.env.RECORDED_KB === "1";
/** The bridge's tests compare the emulator with xterm.js on all of them: here one for each: a whole screen, panes, wide characters. */
const PROGRAMS = ["vim", "tmux", "wide"];
const OTHERS = ["alternate", "build", "htop", "less", "less-colours", "shell", "spinner", "top", "vim-colours"];
const MORE = isWhole ? OTHERS : [];

test.each([...PROGRAMS, ...MORE])(
  "G4: of %s, the screen at an offset is that of xterm.js fed to there",
  async (name) => {
    const alice = await person();
    const { cols, rows } = sizeOf(name);
    const { session, client } = await played(alice, { cols, rows });
    const bytes = fileOf(name);
    // A message of input is not longer than 64 KiB.
    for (let sent = 0; sent < bytes.length; sent += 32_768) {
      const part = bytes.subarray(sent, sent + 32_768);
      client.type(part);
      await until("all of it", () => client.bytes().length === "ready".length + sent + part.length);
    }
    const output = client.bytes();
    const reference = new Played(output, { cols, rows });
    const step = isWhole ? 1024 : Math.ceil(output.length / 8 / 1024) * 1024;
    for (let offset = 0; offset < output.length + step; offset += step) {
      const at = Math.min(offset, output.length);
      const { status, body } = await get(alice, session, `recording/screen?offset=${at}&format=json`);
      expect(status).toBe(200);
      expect(body.approximate).toBeUndefined();
      expect(body).toMatchObject(await reference.at(at));
    }
    expect((await get(alice, session, `recording/screen?offset=${output.length + 1}`)).body.error).toBe("bad_offset");
  },
);

test("G4: behind megabytes too, from key frames, and after the Worker was killed", async () => {
  const alice = await person();
  const size = sizeOf("top");
  const { session, client } = await played(alice, size);
  const part = fileOf("top");
  const total = 1_600_000;
  for (let sent = 0; sent < total; sent += part.length) {
    client.type(part);
    await until("the echo", () => client.bytes().length >= 5 + sent + part.length);
  }
  const output = client.bytes();
  await until("key frames", async () => (await get(alice, session, "recording/screen?offset=1200000")).status === 200);
  await restartWorker();
  const reference = new Played(output, size);
  for (const offset of [700_001, 1_048_576, 1_500_003, output.length - 1]) {
    const { body } = await get(alice, session, `recording/screen?offset=${offset}&format=json`);
    expect(body).toMatchObject(await reference.at(offset));
  }
  expect(outputOf((await cast(alice, session)).events)).toBe(output.toString());
});

test("G3: the asciicast has each event once with its time, from anywhere on, and the exit", async () => {
  const alice = await person();
  const session = fresh("rec");
  const script =
    "printf 'one\\r\\n'; printf '\\e]633;E;make all\\a\\e]633;C\\a'; read x; printf '\\e[31mtwo\\e[m ä✓\\r\\n'; read x; exit 3";
  const client = await connect(alice, {
    session,
    cmd: "sh",
    arg: ["-c", script],
    tty: 1,
    record: 1,
    cols: 90,
    rows: 25,
  });
  expect((await client.hello()).recording).toMatchObject({ redacted: true });
  await client.output("one");
  client.say({ type: "resize", cols: 100, rows: 30 });
  await until("the size", async () => (await get(alice, session, "")).body.cols === 100);
  client.type("\n");
  await client.output("✓");
  client.type("\n");
  await client.end();
  const whole = await until("the exit in it", async () => {
    const read = await cast(alice, session);
    return read.events.some(([, code]) => code === "x") && read;
  });
  const { header, events } = whole;
  expect(header).toMatchObject({ version: 3, term: { cols: 90, rows: 25 } });
  expect(header.timestamp).toBeGreaterThan(Date.now() / 1000 - 300);
  expect(outputOf(events)).toBe(client.bytes().toString());
  expect(events.filter(([, code]) => code !== "o").map(([, code, data]) => [code, data])).toEqual([
    ["m", "make all"],
    ["r", "100x30"],
    ["x", "3"],
  ]);
  expect(events.every(([interval]) => interval >= 0 && Math.round(interval * 1000) === interval * 1000)).toBe(true);
  // From the middle of a character on: the first event draws what was before.
  const middle = client.bytes().indexOf("✓") + 1;
  const late = await cast(alice, session, `?from=${middle}`);
  expect(outputOf(late.events)).toBe(client.bytes().toString());
  const atEnd = await cast(alice, session, `?from=${client.bytes().length}`);
  expect(outputOf(atEnd.events)).toBe(client.bytes().toString());
  const short = await cast(alice, session, "?idleLimit=0.001");
  expect(short.events.every(([interval]) => interval <= 0.001)).toBe(true);
  const part = await cast(alice, session, "?from=2&to=5");
  expect(outputOf(part.events)).toBe(client.bytes().subarray(0, 5).toString());
  const cut = await cast(alice, session, `?to=${middle}`);
  expect(outputOf(cut.events)).toBe(
    client
      .bytes()
      .subarray(0, middle - 1)
      .toString(),
  );
  // A time in a pause: what is left of the pause is in it.
  const { at } = (await get(alice, session, `recording/screen?offset=${middle}`)).body as { at: string };
  const before = new Date(Date.parse(at) - 1).toISOString();
  const paused = await cast(alice, session, `?from=${before}`);
  const second = paused.events.findIndex(([, , data]) => data.includes("two"));
  expect(paused.events.slice(0, second + 1).reduce((sum, [interval]) => sum + interval, 0)).toBe(0.001);
  const refused = await api(alice, `/api/sandboxes/default/sessions/${session}/recording?from=99999`);
  expect([refused.status, ((await refused.json()) as { error: string }).error]).toEqual([400, "bad_offset"]);
});

test("G3: a stream that follows has all output as it comes, and ends with the exit", async () => {
  const alice = await person();
  const { session, client } = await played(alice);
  const following = api(alice, `/api/sandboxes/default/sessions/${session}/recording?follow=1`).then((r) => r.text());
  for (let i = 0; i < 20; i += 1) {
    client.type(`line ${i}\r\n`);
    await client.output(`line ${i}\r\n`);
  }
  await client.leave();
  await api(alice, `/api/sandboxes/default/sessions/${session}`, { method: "DELETE" });
  const { events } = castOf(await following);
  expect(outputOf(events)).toBe(client.bytes().toString());
});

test("G5: search finds lines as people saw them, with their offsets, a few at a time, also by RE2", async () => {
  const alice = await person();
  const { session, client } = await played(alice);
  const lines = Array.from({ length: 300 }, (_, i) => (i % 10 === 0 ? `\x1b[31mer\x1b[mror ${i}` : `line ${i}`));
  client.type(`${lines.join("\r\n")}\r\n`);
  await client.output("line 299\r\n");
  type Found = { hits: { offset: number; line: string }[]; next?: number; searchedTo: number };
  const first = (await get(alice, session, "recording/search?text=error&limit=7")).body as unknown as Found;
  expect(recordingSchemas.searchAnswer.safeParse(first).success).toBe(true);
  expect(first.hits.map(({ line }) => line)).toEqual(
    [0, 10, 20, 30, 40, 50, 60].map((i) => (i === 0 ? "readyerror 0" : `error ${i}`)),
  );
  const rest = (await get(alice, session, `recording/search?text=error&from=${first.next}`)).body as unknown as Found;
  expect(rest.hits.length).toBe(23);
  expect(rest.next).toBeUndefined();
  expect(rest.searchedTo).toBe(client.bytes().length);
  const [hit] = rest.hits;
  expect(client.bytes().subarray(hit?.offset).toString().startsWith("er\x1b[mror 70")).toBe(true);
  const match = encodeURIComponent("^error 2[0-9]0$");
  const matched = (await get(alice, session, `recording/search?match=${match}`)).body as unknown as Found;
  expect(matched.hits.map(({ line }) => line)).toEqual([
    "error 200",
    "error 210",
    "error 220",
    "error 230",
    "error 240",
    "error 250",
    "error 260",
    "error 270",
    "error 280",
    "error 290",
  ]);
  expect((await get(alice, session, "recording/search?match=(")).body.error).toBe("bad_pattern");
  expect((await get(alice, session, "recording/search?text=a&match=b")).status).toBe(400);
});

test("G6, G8: a recording is listed, held, released and removed by whom it belongs to or an admin, and nobody else's", async () => {
  const alice = await person();
  const { session, client } = await played(alice);
  await client.leave();
  const again = { org: alice.org };
  const [bob, admin, mallory] = [
    await person(again),
    await person({ ...again, scope: "sandbox:admin sandbox:exec" }),
    await person(),
  ];
  expect((await get(alice, session, "")).body.recording).toMatchObject({ redacted: true });
  const { body } = await get(bob, session, "recordings");
  expect(recordingSchemas.recordingsAnswer.safeParse(body).success).toBe(true);
  const [listed] = body.recordings as { incarnation: string }[];
  const { incarnation = "" } = listed ?? {};
  for (const path of ["recording", "recording/screen?offset=0", "recording/search?text=x"]) {
    expect((await get(mallory, session, path)).body.error).toBe("not_recorded");
  }
  expect((await get(mallory, session, "recordings")).body).toEqual({ recordings: [] });
  const removal = { method: "DELETE" };
  expect((await get(mallory, session, `recording?incarnation=${incarnation}`, removal)).status).toBe(404);
  expect((await get(bob, session, `recording?incarnation=${incarnation}`, removal)).status).toBe(403);
  expect((await get(alice, session, "recording", removal)).status).toBe(400);
  const hold = { method: "POST", body: JSON.stringify({ reason: "case 12" }) };
  expect((await get(alice, session, "recording/hold", hold)).status).toBe(403);
  expect((await get(admin, session, "recording/hold", hold)).status).toBe(204);
  const held = await get(alice, session, `recording?incarnation=${incarnation}`, removal);
  expect([held.status, held.body.error]).toEqual([409, "held"]);
  expect((await get(admin, session, "recording/hold", removal)).status).toBe(204);
  expect((await get(alice, session, `recording?incarnation=${incarnation}`, removal)).status).toBe(204);
  for (const path of ["recording", "recording/screen?offset=0", "recording/search?text=x"]) {
    const gone = await get(alice, session, path);
    expect([gone.status, gone.body.error]).toEqual([410, "recording_removed"]);
  }
  expect((await get(alice, session, "")).body.recording).toBeUndefined();
  const records: AuditRecord[] = await recordsAt(
    `${system.origin}/api/sandboxes/default/sessions/${session}/audit`,
    admin.token,
  );
  expect(records.filter(({ type }) => type === "recording").map(({ did, user }) => [did, user])).toEqual([
    ["held", admin.sub],
    ["released", admin.sub],
    ["removed", alice.sub],
  ]);
});

test("G8: a share ticket gives the recording only if it was made for that, and no more once it is revoked", async () => {
  const alice = await person();
  const { session, client } = await played(alice);
  const { session: another } = await played(alice);
  const share = (body: object) => get(alice, session, "share", { method: "POST", body: JSON.stringify(body) });
  const [plain, made] = [await share({ guests: true }), await share({ guests: true, recording: true })];
  const by = (ticket: unknown, name: string, path: string, init: RequestInit = {}) =>
    fetch(`${system.origin}/api/sandboxes/default/sessions/${name}/${path}`, {
      ...init,
      headers: { "X-Stdio-Ticket": String(ticket) },
    });
  const PATHS = ["recording", "recording/screen?offset=0", "recording/search?text=ready"];
  const statuses = (ticket: unknown, name = session) =>
    Promise.all(PATHS.map(async (path) => (await by(ticket, name, path)).status));
  expect(await statuses(made.body.ticket)).toEqual([200, 200, 200]);
  expect(await statuses(plain.body.ticket)).toEqual([403, 403, 403]);
  expect(await statuses(made.body.ticket, another)).toEqual([403, 403, 403]);
  expect(await statuses(`${String(made.body.ticket).slice(0, -3)}AAA`)).toEqual([401, 401, 401]);
  const following = await by(made.body.ticket, session, "recording?follow=1");
  const followed = following.body?.getReader();
  let read = "";
  const reads = async (text: string) => {
    while (!read.includes(text)) read += new TextDecoder().decode((await followed?.read())?.value);
  };
  await reads("ready");
  client.type("more");
  await reads("more");
  // It reads, and nothing else.
  const { status } = await by(made.body.ticket, session, "recording?all=1", { method: "DELETE" });
  expect(status).toBe(401);
  const { body } = await get(alice, session, "tickets");
  expect((body.tickets as { recording?: true }[]).map(({ recording }) => recording)).toEqual([undefined, true]);
  await get(alice, session, `tickets/${String(made.body.id)}`, { method: "DELETE" });
  expect(await statuses(made.body.ticket)).toEqual([401, 401, 401]);
  // At once, not with the next output.
  const rest = await followed?.read().then(
    () => "goes on",
    () => "broken off",
  );
  expect(rest).toBe("broken off");
});

test("R1: a recording's stream ends with its reader's right", async () => {
  const alice = await person({ scope: "sandbox:connect sandbox:exec" });
  const admin = await person({ org: alice.org, scope: "sandbox:admin" });
  const reader = await person({ org: alice.org, scope: "sandbox:connect" });
  const { session, client } = await played(alice);
  const response = await api(reader, `/api/sandboxes/default/sessions/${session}/recording?follow=1`);
  const read = response.text().then(
    () => "ended",
    () => "broken off",
  );
  await api(admin, "/api/revocations", { method: "POST", body: JSON.stringify({ sub: reader.sub }) });
  client.type("more");
  await client.output("more");
  expect(await read).toBe("broken off");
  expect((await get(reader, session, "recording/screen?offset=0")).status).toBe(401);
});

test("G6: an admin removes all recordings of one person, and no other's", async () => {
  const admin = await person({ scope: "sandbox:admin sandbox:exec" });
  const [bob, cleo] = [await person({ org: admin.org }), await person({ org: admin.org })];
  const bobs = [await played(bob), await played(bob)];
  const hers = await played(cleo);
  await until("the tenant's list", async () => {
    const response = await api(admin, `/api/recordings?sub=${bob.sub}`, { method: "DELETE" });
    expect(response.status).toBe(202);
    return ((await response.json()) as { count: number }).count > 0;
  });
  await until("both gone", async () => {
    await api(admin, `/api/recordings?sub=${bob.sub}`, { method: "DELETE" });
    const answers = await Promise.all(bobs.map(({ session }) => get(bob, session, "recording/screen?offset=0")));
    return answers.every(({ status }) => status === 410);
  });
  expect((await get(cleo, hers.session, "recording/screen?offset=0")).status).toBe(200);
  expect((await api(bob, `/api/recordings?sub=${cleo.sub}`, { method: "DELETE" })).status).toBe(403);
});

test("G1: a session that its start did not ask to record is not, and pipes have no screen", async () => {
  const alice = await person();
  const plain = fresh("plain");
  const client = await connect(alice, { session: plain, cmd: "cat" });
  expect((await client.hello()).recording).toBeUndefined();
  expect((await get(alice, plain, "recording")).body.error).toBe("not_recorded");
  const made = await api(alice, "/api/sandboxes/default/run", {
    method: "POST",
    body: JSON.stringify({ command: "echo out; echo err >&2", session: fresh("run"), record: true }),
  });
  const { session, output } = (await made.json()) as { session: string; output: string };
  const read = await until("its recording", async () => {
    const response = await api(alice, `/api/sandboxes/default/sessions/${session}/recording`);
    const text = await response.text();
    return text.includes('"x"') && text;
  });
  expect(outputOf(castOf(read).events)).toBe(output);
  const screen = await get(alice, session, "recording/screen?offset=0");
  expect([screen.status, screen.body.error]).toEqual([409, "no_screen"]);
});

test.each([
  ["bash", ".bashrc"],
  ["zsh", ".zshrc"],
  // Without this folder the first fish reads all manuals of the machine.
  ["fish", ".local/share/fish/generated_completions/none"],
])("G1: a secret typed in %s over the edge of a terminal is nowhere in the recording", async (cmd, file) => {
  const alice = await person();
  const session = fresh("typed");
  const size = { cols: 40, rows: 10 };
  const home = mkdtempSync(join(system.dir, "home-"));
  mkdirSync(dirname(join(home, file)), { recursive: true });
  writeFileSync(join(home, file), "");
  const client = await connect(alice, { session, cmd, env: [`HOME=${home}`], tty: 1, record: 1, ...size });
  await client.output("\x1b]133;B");
  const secret = "sk-aaaabbbb;ccccdddd";
  for (const key of `echo xxxxxxxxxxxxxxxxxxx '${secret}'`) {
    const before = client.bytes().length;
    client.type(key);
    await until("its echo", () => client.bytes().length > before);
  }
  client.type("\r");
  await client.output(`xxx ${secret}\r\n`);
  client.type("exit\r");
  await client.end();
  const { events } = await until("the exit in it", async () => {
    const read = await cast(alice, session);
    return read.events.some(([, code]) => code === "x") && read;
  });
  const output = outputOf(events);
  expect(Buffer.from(output).length).toBe(client.bytes().length);
  const played = new Played(Buffer.from(output), size);
  for (let at = 0; at <= output.length; at += 1) {
    const screen = JSON.stringify((await played.at(at)).lines.join(""));
    expect(screen, `at ${at}`).not.toMatch(/sk-|aabb|bb;c|ccdd/);
  }
  const marks = events.flatMap(([, code, data]) => (code === "m" ? [data] : []));
  expect(marks.join("\n")).toContain("*****");
  expect(marks.join("\n")).not.toContain("aabb");
});
