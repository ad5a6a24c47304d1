// `record` over the whole system: a viewer's asciicast of a session that runs, through cuts, with sizes, and up to the exit.
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type CastEvent, CastReader } from "../../../packages/sandbox-stdio/src/recording/cast-reader.ts";
import { exitCode, textOf as outputOf, runCli, startCli } from "../support/clients/cli.ts";
import { connect } from "../support/clients/client.ts";
import { api, cutInnerHop, cutRelay, fresh, person, system } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

function read(path: string): { info: CastReader["info"]; events: CastEvent[] } {
  const reader = new CastReader();
  const events = [...reader.push(readFileSync(path)), ...reader.end()];
  return { info: reader.info, events };
}
const textOf = (events: readonly CastEvent[]) => events.map((event) => (event.type === "o" ? event.text : "")).join("");
const contentOf = (path: string) => (existsSync(path) ? readFileSync(path, "utf8") : "");
const castPath = () => join(mkdtempSync(join(tmpdir(), "sbx-cast-")), "s.cast");

test("record: what a session prints until it ends, byte for byte through cuts, with its sizes and its exit", async () => {
  const [alice, session, path] = [await person(), fresh("s"), castPath()];
  const script = 'stty -echo; while read -r x; do [ $x = bye ] && exit 3; echo "é $x"; done';
  const creator = await connect(alice, { session, cmd: "sh", arg: ["-c", script], tty: 1, cols: 70, rows: 20 });
  await creator.hello();
  creator.type("first\n");
  await creator.output("first");
  const child = startCli(alice, ["--session", session, "-o", path], "record", system.relayOrigin);
  const code = exitCode(child);
  const shows = (text: string) => until(text, () => contentOf(path).includes(text));
  await until("the file", () => contentOf(path) !== "");
  await shows("first");
  for (const [n, cut] of [cutRelay, cutInnerHop, cutRelay].entries()) {
    await cut();
    creator.type(`line-${n}\n`);
    await shows(`line-${n}`);
  }
  creator.say({ type: "resize", cols: 90, rows: 30 });
  await shows('"r","90x30"');
  creator.type("bye\n");
  expect(await code).toBe(0);
  const { info, events } = read(path);
  expect(info).toMatchObject({ version: 3, cols: 70, rows: 20, title: `${session} (default)` });
  expect(textOf(events)).toBe(creator.text());
  expect(events.filter(({ type }) => type !== "o").map(({ afterMs: _, ...rest }) => rest)).toEqual([
    { type: "r", cols: 90, rows: 30 },
    { type: "x", code: 3 },
  ]);
});

test("record --stored and replay: the server's recording, from its beginning, from an offset, and up to the exit", async () => {
  const [alice, session, path] = [await person(), fresh("s"), castPath()];
  const script = 'stty -echo; while read -r x; do [ $x = bye ] && exit 3; echo "é $x"; done';
  const asked = { session, cmd: "sh", arg: ["-c", script], tty: 1, cols: 70, rows: 20, record: 1 };
  const creator = await connect(alice, asked);
  const hello = await creator.hello();
  expect(hello.recording).toMatchObject({ redacted: true });
  creator.type("first\n");
  await creator.output("first");
  const child = startCli(alice, ["--session", session, "--stored", "-f", "-o", path], "record");
  const code = exitCode(child);
  await until("the first line", () => contentOf(path).includes("first"));
  creator.type("second\n");
  await until("the second line", () => contentOf(path).includes("second"));
  creator.type("bye\n");
  expect(await code).toBe(0);
  const { info, events } = read(path);
  expect(info).toMatchObject({ cols: 70, rows: 20 });
  expect(textOf(events)).toBe(creator.text());
  expect(events.at(-1)).toMatchObject({ type: "x", code: 3 });
  const replayed = await runCli(alice, ["--session", session, "--speed", "max"], "", "replay");
  expect(replayed).toEqual({ code: 0, stdout: creator.text(), stderr: "" });
  const offset = String(Buffer.byteLength("é first\r\n"));
  const later = await runCli(alice, ["--session", session, "--speed", "max", "--from", offset], "", "replay");
  expect([later.code, later.stdout.includes("second")]).toEqual([0, true]);
  const link = async (recording: boolean) => {
    const body = JSON.stringify({ guests: true, recording });
    const made = await api(alice, `/api/sandboxes/default/sessions/${session}/share`, { method: "POST", body });
    return ((await made.json()) as { url: string }).url;
  };
  const guest = startCli(undefined, ["--speed", "max"], "replay", await link(true));
  expect(await outputOf(guest.stdout)).toBe(creator.text());
  const live = startCli(undefined, [], "record", await link(false));
  expect(textOf(new CastReader().push(Buffer.from(await outputOf(live.stdout))))).toContain("second");
  const refused = startCli(undefined, ["--stored"], "record", await link(false));
  expect([await outputOf(refused.stderr), await exitCode(refused)]).toEqual([
    expect.stringContaining("The ticket gives no recording"),
    255,
  ]);
  const never = await runCli(alice, ["--session", fresh("none")], "", "replay");
  expect([never.code, never.stdout]).toEqual([255, ""]);
});

test("record: Ctrl+C ends it with a whole recording; the session goes on, and one that is not there is told", async () => {
  const [alice, session, path] = [await person(), fresh("s"), castPath()];
  const creator = await connect(alice, { session, cmd: "cat", tty: 1 });
  await creator.hello();
  const child = startCli(alice, ["--session", session, "-o", path], "record");
  const code = exitCode(child);
  await until("the file", () => contentOf(path) !== "");
  creator.type("kept\n");
  await until("output", () => contentOf(path).includes("kept"));
  child.kill("SIGINT");
  expect(await code).toBe(0);
  expect(textOf(read(path).events)).toContain("kept");
  creator.type("still here\n");
  await creator.output("still here");
  const none = await runCli(alice, ["--session", fresh("none")], "", "record");
  expect(none).toMatchObject({ code: 255, stdout: "" });
  expect(none.stderr).toMatch(/no session "none-\w+"/);
});

test("recordings: list, hold, release; remove one, all of a session, or all of a person", async () => {
  const admin = await person({ scope: "sandbox:admin sandbox:exec sandbox:connect" });
  const alice = await person({ org: admin.org });
  const session = fresh("s");
  const creator = await connect(alice, { session, cmd: "echo", arg: ["recorded"], record: 1 });
  await creator.end();
  const ask = (who: typeof alice, action: string, ...words: string[]) => runCli(who, words, "", `recordings ${action}`);
  const of = ["--session", session];
  const listed = await ask(admin, "list", ...of);
  expect(listed.stdout).toMatch(/^INCARNATION +STARTED +ENDED +SECONDS +BYTES +HELD\n\S+ +\S+Z +\S+ +\d+ +\d+\n$/);
  const { recordings } = JSON.parse((await ask(admin, "list", ...of, "--json")).stdout);
  const one = [...of, "--incarnation", recordings[0].incarnation];
  expect(await ask(alice, "hold", ...of, "--reason", "mine")).toMatchObject({ code: 255 });
  expect(await ask(admin, "hold", ...of, "--reason", "case 12")).toMatchObject({ code: 0 });
  expect((await ask(admin, "list", ...of)).stdout).toContain("case 12");
  const held = await ask(alice, "remove", ...one);
  expect([held.code, held.stderr]).toEqual([255, expect.stringContaining("the recording is held: case 12")]);
  expect(await ask(admin, "release", ...one)).toMatchObject({ code: 0 });
  expect(await ask(alice, "remove", ...one)).toMatchObject({ code: 0 });
  expect((await ask(admin, "list", ...of)).stdout).toBe("INCARNATION  STARTED  ENDED  SECONDS  BYTES  HELD\n");
  const again = await ask(alice, "remove", ...of, "--all");
  expect(again.stderr).toContain("removed");
  const persons = await ask(admin, "remove", "--of", alice.sub);
  expect([persons.code, JSON.parse(persons.stdout)]).toEqual([0, { count: expect.any(Number) }]);
  const both = await ask(admin, "remove", ...one, "--all");
  expect([both.code, both.stderr]).toEqual([2, expect.stringContaining("one of --incarnation, --all and --of")]);
});
