// What a server must do: attaching, output, resume and exit. Each check has a session of its own in the sandbox that the URL names, which
// needs sh, cat, head, seq and sleep.

import { randomBytes } from "node:crypto";
import { type Check, holds, same } from "./check.ts";
import { freshName, Probe, resumed, SILENCE_MS, sh, type Target } from "./probe.ts";

/** A refusal of a client that offers `stdio.v1`: an accepted upgrade, `bye`, and a close with the same code. */
async function refusal(probe: Probe, code: number): Promise<void> {
  const close = await probe.closed();
  same("the close's code", close.code, code);
  same(
    "the code in bye",
    probe.all("bye").map((bye) => bye.code),
    [code],
  );
  same("a greeting", probe.all("hello").length, 0);
}

type Person = { readonly id: string };

const ATTACHING: readonly Check<Target>[] = [
  {
    rules: ["A8", "F1", "O1"],
    title: "hello comes before the first frame, and stdout and stderr under their own type bytes, in order",
    async run(target) {
      const probe = new Probe(target, { session: freshName(), ...sh("printf out; printf err >&2") });
      await probe.exit();
      holds(
        "a frame came before hello",
        probe.order.indexOf("hello") < probe.order.findIndex((one) => /^\d/.test(one)),
      );
      same("greetings", probe.all("hello").length, 1);
      same("stdout and stderr", [probe.text(1), probe.text(2)], ["out", "err"]);
    },
  },
  {
    rules: ["A2"],
    title: "a second attach to a name finds the process that is there",
    async run(target) {
      const session = freshName();
      const query = { session, ...sh("echo $$; cat") };
      const [a, b] = [new Probe(target, query), new Probe(target, query)];
      const hellos = await Promise.all([a.hello(), b.hello()]);
      same("the second incarnation", hellos[1].incarnation, hellos[0].incarnation);
      await Promise.all([a.output("\n"), b.output("\n")]);
      same("the second output", b.text(), a.text());
      a.say({ type: "kill" });
      await Promise.all([a.exit(), b.exit()]);
    },
  },
  {
    rules: ["A2b"],
    title: "an incarnation that is not there is 4404, and nothing starts",
    async run(target) {
      const session = freshName();
      await refusal(new Probe(target, { session, incarnation: "another", ...sh("echo started") }), 4404);
      await refusal(new Probe(target, { session, role: "viewer" }), 4404);
    },
  },
  {
    rules: ["A3"],
    title: "another command for a living session is 4409",
    async run(target) {
      const session = freshName();
      const probe = new Probe(target, { session, ...sh("cat") });
      await probe.hello();
      await refusal(new Probe(target, { session, ...sh("cat; true") }), 4409);
      probe.say({ type: "eof" });
      await probe.exit();
    },
  },
  {
    rules: ["A7", "C5"],
    title: "a stranger's upgrade is accepted, told bye, and closed with 4401",
    run: (target) => refusal(new Probe({ ...target, token: "not-a-token" }, { session: freshName() }), 4401),
  },
  {
    rules: ["A1"],
    title: "a parameter that can't be is 4400",
    run: (target) => refusal(new Probe(target, { session: freshName(), cols: "many" }), 4400),
  },
  {
    rules: ["A11"],
    title: "a command that is not there is 4422, with cmd_not_found in the reason",
    async run(target) {
      const probe = new Probe(target, { session: freshName(), cmd: "no-such-command-anywhere" });
      await refusal(probe, 4422);
      holds(`the reason is ${probe.close?.reason}`, /cmd_not_found/.test(String(probe.all("bye")[0]?.reason)));
    },
  },
  {
    rules: ["A12"],
    title: "an ended session is read, and replaced only when that is asked for, once for one LIFE",
    async run(target) {
      const session = freshName();
      const first = new Probe(target, { session, ...sh("echo one") });
      await first.exit();
      const { incarnation } = await first.hello();
      const reader = new Probe(target, { session, ...sh("echo one") });
      await reader.exit();
      same("the incarnation that is read", (await reader.hello()).incarnation, incarnation);
      const replace = { session, ended: "replace", attempt: `${freshLife()}.1`, ...sh("echo two") };
      const second = new Probe(target, replace);
      await second.exit();
      same("the new output", second.text(), "two\n");
      holds("the incarnation is the old one", (await second.hello()).incarnation !== incarnation);
      const again = new Probe(target, { ...replace, attempt: replace.attempt.replace(/1$/, "2") });
      await again.exit();
      same("the incarnation of the same LIFE", (await again.hello()).incarnation, (await second.hello()).incarnation);
    },
  },
  {
    rules: ["C4"],
    title: "a ping is answered by a pong, each in exactly its text",
    async run(target) {
      const probe = new Probe(target, { session: freshName(), ...sh("cat") });
      await probe.hello();
      const before = probe.all("pong").length;
      probe.say('{"type":"ping"}');
      same("pong", await probe.message("pong", before), { type: "pong" });
      probe.say({ type: "kill" });
      await probe.exit();
    },
  },
];

/** @returns A LIFE as R10 describes it. */
function freshLife(bornAtMs = Date.now()): string {
  return (
    bornAtMs.toString(36).padStart(9, "0") + randomBytes(8).readBigUInt64BE().toString(36).slice(-7).padStart(7, "0")
  );
}

const OUTPUT: readonly Check<Target>[] = [
  {
    rules: ["W1", "W2", "F5"],
    title:
      "never more than the window is in flight, in frames of allowed length, and an acknowledgement brings the rest",
    async run(target) {
      const probe = new Probe(target, { session: freshName(), ...sh("head -c 3000000 /dev/zero") }, false);
      const { window } = await probe.hello();
      for (let acked = 0; acked < 3_000_000; acked = probe.offset) {
        await probe.until("more output", () => probe.offset > acked);
        // The first window fills up, on a busy machine slowly, and what is not held is seen to go on.
        await probe.still(acked === 0 ? 4 * SILENCE_MS : SILENCE_MS / 5);
        holds(`${probe.offset - acked} bytes are in flight`, probe.offset - acked <= Number(window));
        probe.say({ type: "ack", offset: probe.offset });
      }
      await probe.exit();
      const longest = Math.max(...probe.frames.map(({ payload }) => payload.length));
      holds(`a payload has ${longest} bytes`, longest <= Math.min(65_531, Math.max(8_192, Number(window) / 8)));
    },
  },
  {
    rules: ["W1"],
    title: "an acknowledgement of what was not sent is closed with 1008",
    async run(target) {
      const probe = new Probe(target, { session: freshName(), ...sh("echo hi; cat") });
      await probe.output("hi\n");
      probe.say({ type: "ack", offset: 4 });
      same("the close's code", (await probe.closed()).code, 1008);
    },
  },
  {
    rules: ["O4"],
    title: "what the log no longer holds is a gap in hello, and none of its bytes come",
    async run(target) {
      const session = freshName();
      const a = new Probe(target, { session, logBytes: 65_536, ...sh("seq 20000; cat") });
      await a.output("\n20000\n");
      const b = new Probe(target, { session, offset: 0 });
      const { offset, gap } = await b.hello();
      await b.output("\n20000\n");
      same("the offset behind the gap", offset, gap);
      holds("nothing is gone", Number(gap) > 0);
      same("what follows the gap", b.text(), a.text().slice(Number(offset)));
      a.say({ type: "kill" });
      await a.exit();
    },
  },
  {
    rules: ["F6", "A9"],
    title:
      "on a PTY a client without an offset gets a snapshot of at most 64 KiB at hello's offset, and then what follows",
    async run(target) {
      const session = freshName();
      const a = new Probe(target, { session, tty: 1, ...sh("stty -echo; seq 30000; read x; echo $x") });
      await a.output("\r\n30000\r\n");
      const b = new Probe(target, { session });
      const { offset } = await b.hello();
      const snapshot = await b.until("snapshot", () => b.frames[0]);
      same("the first frame's type", snapshot.kind, 3);
      holds(`a snapshot of ${snapshot.payload.length} bytes`, snapshot.payload.length <= 65_536);
      holds("the snapshot does not show the last line", snapshot.payload.includes("30000"));
      same("the offset behind the snapshot", snapshot.after, offset);
      b.type("more\r");
      await Promise.all([a.exit(), b.exit()]);
      same("what follows the snapshot", b.text(), a.text().slice(Number(offset)));
    },
  },
  {
    rules: ["O3"],
    title: "a change of the PTY's size is told with the offset from which it holds",
    async run(target) {
      const probe = new Probe(target, {
        session: freshName(),
        tty: 1,
        cols: 90,
        rows: 30,
        ...sh("read x; stty size; read x"),
      });
      const { cols, rows } = await probe.hello();
      same("the size in hello", [cols, rows], [90, 30]);
      probe.say({ type: "resize", cols: 70, rows: 20 });
      same("the new size", await probe.message("resize"), { type: "resize", cols: 70, rows: 20, offset: 0 });
      probe.type("\r");
      await probe.output("20 70\r\n");
      probe.type("\r");
      await probe.exit();
    },
  },
];

const RESUME: readonly Check<Target>[] = [
  {
    rules: ["R1"],
    title: "output continues with the byte that is asked for, in mid-frame, each once",
    async run(target) {
      const a = new Probe(target, { session: freshName(), ...sh("printf abcdefgh; read x; printf ijkl") });
      await a.output("abcdefgh");
      a.cut();
      const b = await resumed(target, a, { offset: 3 });
      same("hello's offset", (await b.hello()).offset, 3);
      await b.output("defgh");
      b.type("\n");
      same("the exit's offset", (await b.exit()).offset, 12);
      same("the output", b.text(), "defghijkl");
    },
  },
  {
    rules: ["R3"],
    title: "an offset that was not written yet, and one without resume, are 4400",
    async run(target) {
      const a = new Probe(target, { session: freshName(), ...sh("printf abc; cat") });
      await a.output("abc");
      a.cut();
      await refusal(await resumed(target, a, { offset: 4 }), 4400);
      const { session } = await a.hello();
      await refusal(new Probe(target, { session: String(session), offset: 1 }), 4400);
      const b = await resumed(target, a, { offset: 3 });
      await b.hello();
      b.say({ type: "kill" });
      await b.exit();
    },
  },
  {
    rules: ["R2"],
    title: "a resume that the server did not sign is refused",
    async run(target) {
      const a = new Probe(target, { session: freshName(), ...sh("cat") });
      const { session, resume } = await a.hello();
      const forged = `${String(resume).slice(0, -4)}AAAA`;
      const b = new Probe(target, { session: String(session), resume: forged, offset: 0 });
      holds(`it was closed with ${(await b.closed()).code}`, (b.close?.code ?? 0) >= 4400);
      same("a greeting", b.all("hello").length, 0);
      a.say({ type: "kill" });
      await a.exit();
    },
  },
  {
    rules: ["R4", "A12"],
    title: "a resume of a process that was replaced is 4404, and replaces nothing itself",
    async run(target) {
      const session = freshName();
      const first = new Probe(target, { session, ...sh("echo one") });
      await first.exit();
      const replace = { ended: "replace", attempt: `${freshLife()}.1` };
      const second = new Probe(target, { session, ...replace, ...sh("cat") });
      await second.hello();
      await refusal(await resumed(target, first, { offset: 4 }), 4404);
      await refusal(await resumed(target, first, { offset: 4, ...replace, ...sh("cat") }), 4404);
      second.type("still here");
      await second.output("still here");
      second.say({ type: "eof" });
      await second.exit();
    },
  },
  {
    rules: ["R8"],
    title: "a client that left can't be resumed before the exit: 4404",
    async run(target) {
      const a = new Probe(target, { session: freshName(), ...sh("cat") });
      const b = new Probe(target, { session: String((await a.hello()).session) });
      await b.hello();
      a.leave();
      await b.message("leave");
      await refusal(await resumed(target, a, { offset: 0 }), 4404);
      b.say({ type: "kill" });
      await b.exit();
    },
  },
  {
    rules: ["R10"],
    title: "of two sockets with one resume the newer wins, and the older is told bye 4409 never",
    async run(target) {
      const a = new Probe(target, { session: freshName(), ...sh("cat") });
      await a.hello();
      const b = await resumed(target, a, { offset: 0 });
      await b.hello();
      same("the older one's close", (await a.closed()).code, 4409);
      same(
        "its bye",
        a.all("bye").map(({ code, retry }) => [code, retry]),
        [[4409, "never"]],
      );
      b.type("still here\n");
      await b.output("still here\n");
      b.say({ type: "eof" });
      await b.exit();
    },
  },
  {
    rules: ["R10"],
    title: "connections of one LIFE without resume are one client, and an earlier attempt that comes late is 4409",
    async run(target) {
      const life = freshLife();
      const query = { session: freshName(), ...sh("cat") };
      const a = new Probe(target, { ...query, attempt: `${life}.2` });
      const { you } = await a.hello();
      const b = new Probe(target, { ...query, attempt: `${life}.3` });
      same("the retry's client", ((await b.hello()).you as Person).id, (you as Person).id);
      await refusal(new Probe(target, { ...query, attempt: `${life}.1` }), 4409);
      b.say({ type: "eof" });
      await b.exit();
    },
  },
  {
    rules: ["X1", "X2", "O1"],
    title: "the exit comes once, after the last byte, with the log's length, and then 1000",
    async run(target) {
      const probe = new Probe(target, { session: freshName(), ...sh("seq 20000; exit 7") });
      const exit = await probe.exit();
      same("the exit", [exit.code, exit.offset], [7, probe.offset]);
      const lines = Array.from({ length: 20_000 }, (_, i) => `${i + 1}\n`);
      holds("the output is not whole, or out of order", probe.text() === lines.join(""));
      same("what came last", probe.order.filter((one) => one !== "bye").slice(-2), ["exit", "close"]);
      same("the close's code", probe.close?.code, 1000);
      same("exits", probe.all("exit").length, 1);
    },
  },
  {
    rules: ["X1"],
    title: "a death by signal is 128 and its number, with its name",
    async run(target) {
      const probe = new Probe(target, { session: freshName(), ...sh("kill -9 $$") });
      same("the exit", await probe.exit(), { type: "exit", code: 137, signal: "SIGKILL", offset: 0 });
    },
  },
  {
    rules: ["X4", "X5"],
    title: "a client that lost the exit is told the rest and the exit again, and a new client can read the log",
    async run(target) {
      const a = new Probe(target, { session: freshName(), ...sh("echo one; read x; echo two; exit 3") });
      await a.output("one\n");
      a.type("\n");
      a.cut();
      const b = await resumed(target, a, { offset: 4, stdin: 0 });
      await b.hello();
      if (b.all("exit").length === 0 && Number((await b.hello()).stdin) === 0) b.type("\n");
      same("the exit", (await b.exit()).code, 3);
      same("the rest", b.text(), "two\n");
      const c = await resumed(target, b, { offset: 8 });
      same("the exit again", await c.exit(), { type: "exit", code: 3, offset: 8 });
      const reader = new Probe(target, { session: String((await a.hello()).session) });
      same("the exit for a reader", (await reader.exit()).code, 3);
      same("all output", reader.text(), "one\ntwo\n");
    },
  },
];

export const SERVER_CHECKS: readonly Check<Target>[] = [...ATTACHING, ...OUTPUT, ...RESUME];
