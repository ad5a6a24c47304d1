// Checks of a server's handling of input, its end, messages and the keyboard.

import { type Check, holds, type Sayings, same, vectorsOf } from "./check.ts";
import { freshName, Probe, pause, resumed, SILENCE_MS, sh, type Target } from "./probe.ts";

/** Messages without a visible effect in a session on pipes with one client. */
const HARMLESS = /"(resize|ping|request_stdin|release_stdin|secret)"/;

export const INPUT_CHECKS: readonly Check<Target>[] = [
  {
    rules: ["I2"],
    title: "input that the process has taken is acknowledged, to its last byte",
    async run(target) {
      const probe = new Probe(target, { session: freshName(), ...sh("cat") });
      await probe.hello();
      probe.type("hello");
      await probe.until("stdin_ack of 5", () => probe.all("stdin_ack").some(({ offset }) => offset === 5));
      probe.say({ type: "eof" });
      await probe.exit();
      same("the input", probe.text(), "hello");
    },
  },
  {
    rules: ["I2", "L4"],
    title:
      "input that the process does not take is not acknowledged, and more than the window and a frame closes with 1008",
    async run(target) {
      const probe = new Probe(target, { session: freshName(), ...sh("echo up; exec sleep 60") });
      await probe.output("up\n");
      const piece = new Uint8Array(65_536);
      for (let sent = 0; sent < 1_048_576; sent += piece.length) probe.type(piece);
      same("the close's code", (await probe.closed()).code, 1008);
      const acked = Math.max(0, ...probe.all("stdin_ack").map(({ offset }) => Number(offset)));
      holds(`${acked} bytes were acknowledged that nothing read`, acked < 524_288);
      const last = new Probe(target, { session: String((await probe.hello()).session) });
      await last.hello();
      last.say({ type: "kill" });
      await last.exit();
    },
  },
  {
    rules: ["I5", "R5"],
    title: "input that comes again is taken once, and of an overlapping piece the rest",
    async run(target) {
      const a = new Probe(target, { session: freshName(), ...sh("cat") });
      await a.hello();
      a.type("hello");
      await a.output("hello");
      a.cut();
      // The client saw no acknowledgement, and still keeps its input from offset 0 on.
      const b = await resumed(target, a, { offset: 5, stdin: 0 });
      const { stdin } = await b.hello();
      holds(`hello.stdin is ${stdin}`, Number(stdin) >= 0 && Number(stdin) <= 5);
      b.type("hello world".slice(Number(stdin)));
      await b.output(" world");
      b.say({ type: "eof", offset: 11 });
      same("the exit's offset", (await b.exit()).offset, 11);
      same("what was taken after the break", b.text(), " world");
    },
  },
  {
    rules: ["R6"],
    title: "a life that kept no input is numbered behind all that was received",
    async run(target) {
      const a = new Probe(target, { session: freshName(), ...sh("cat") });
      await a.hello();
      a.type("12345");
      await a.output("12345");
      a.cut();
      const b = await resumed(target, a, { offset: 5, stdin: "new" });
      same("hello.stdin", (await b.hello()).stdin, 5);
      b.type("67");
      await b.output("67");
      b.say({ type: "eof", offset: 7 });
      await b.exit();
    },
  },
  {
    rules: ["I9"],
    title: "the end of input comes once, behind the bytes before it, though it is said again and too early",
    async run(target) {
      const a = new Probe(target, { session: freshName(), ...sh("cat; echo end; sleep 0.2; cat") });
      await a.hello();
      a.type("abc");
      await a.output("abc");
      a.cut();
      const b = await resumed(target, a, { offset: 3, stdin: 3 });
      await b.hello();
      b.say({ type: "eof", offset: 3 });
      b.say({ type: "eof", offset: 3 });
      same("the exit's code", (await b.exit()).code, 0);
      same("the output", b.text(), "end\n");
    },
  },
  {
    rules: ["I7"],
    title: "input behind the end is refused with stdin_closed, and counts as taken",
    async run(target) {
      const probe = new Probe(target, { session: freshName(), ...sh("cat; echo end; exec sleep 60") });
      await probe.hello();
      probe.type("ab");
      probe.say({ type: "eof" });
      await probe.output("end\n");
      probe.type("late");
      same("the error's code", (await probe.message("error")).code, "stdin_closed");
      await probe.until("stdin_ack of 6", () => probe.all("stdin_ack").some(({ offset }) => offset === 6));
      probe.say({ type: "kill" });
      await probe.exit();
      same("the output", probe.text(), "abend\n");
    },
  },
  {
    rules: ["I7"],
    title: "stdin_closed comes again before each later hello",
    async run(target) {
      const a = new Probe(target, { session: freshName(), ...sh("cat; echo end; exec sleep 60") });
      await a.hello();
      a.say({ type: "eof" });
      await a.output("end\n");
      a.type("late");
      await a.message("error");
      a.cut();
      const b = await resumed(target, a, { offset: 4 });
      await b.hello();
      same(
        "what came first",
        b.order.filter((one) => one === "error" || one === "hello"),
        ["error", "hello"],
      );
      b.say({ type: "kill" });
      await b.exit();
    },
  },
  {
    rules: ["I3b"],
    title: "the process's first client may keep as much input as it says, up to 1 MiB",
    async run(target) {
      const probe = new Probe(target, { session: freshName(), keeps: 5_000_000, ...sh("cat") });
      same("hello.inputWindow", (await probe.hello()).inputWindow, 1_048_576);
      probe.say({ type: "eof" });
      await probe.exit();
    },
  },
  {
    rules: ["F2"],
    title: "a frame of stdin over 64 KiB closes with 1009",
    async run(target) {
      const probe = new Probe(target, { session: freshName(), ...sh("cat") });
      await probe.hello();
      probe.type(new Uint8Array(65_537));
      same("the close's code", (await probe.closed()).code, 1009);
    },
  },
  {
    rules: ["C3", "C3a", "C1"],
    title: "each message of the vectors is followed, ignored or closed with 1008, as its fault says",
    async run(target) {
      const { valid, invalid } = vectorsOf("messages").client as Sayings;
      const session = freshName();
      const first = new Probe(target, { session, ...sh("cat") });
      await first.hello();
      const open = async () => {
        const probe = new Probe(target, { session });
        await probe.hello();
        return probe;
      };
      let probe = await open();
      for (const text of valid.filter((one) => HARMLESS.test(one))) probe.say(text);
      for (const { text, fault } of invalid) {
        const before = probe.all("error").length;
        probe.say(text);
        if (fault === "unknown_type" || fault === "bad_size") {
          same(`the error for ${text}`, (await probe.message("error", before)).code, fault);
          continue;
        }
        same(`the close for ${text || "an empty text"}`, (await probe.closed()).code, 1008);
        probe = await open();
      }
      first.say({ type: "kill" });
      await first.exit();
    },
  },
  {
    rules: ["C6"],
    title: "a signal reaches the process, and kill ends it",
    async run(target) {
      const script = "trap 'echo got it' INT; echo up; while :; do sleep 0.05; done";
      const probe = new Probe(target, { session: freshName(), ...sh(script) });
      await probe.output("up\n");
      probe.say({ type: "signal", signal: "SIGINT" });
      await probe.output("got it\n");
      probe.say({ type: "kill" });
      same("the signal of the exit", (await probe.exit()).signal, "SIGHUP");
    },
  },
  {
    rules: ["K3"],
    title: "a viewer's input, size and signal are refused, and nothing of them happens",
    async run(target) {
      const session = freshName();
      const driver = new Probe(target, { session, ...sh("cat") });
      await driver.hello();
      const viewer = new Probe(target, { session, role: "viewer" });
      await viewer.hello();
      viewer.type("no");
      same("the error for input", (await viewer.message("error")).code, "not_stdin_holder");
      viewer.say({ type: "signal", signal: "SIGKILL" });
      await viewer.message("error", 1);
      driver.type("yes");
      await driver.output("yes");
      driver.say({ type: "eof" });
      same("the exit's code", (await driver.exit()).code, 0);
      same("the output", driver.text(), "yes");
    },
  },
  {
    rules: ["K1", "K2"],
    title: "in an exclusive session the holder alone types, until it gives the keyboard away",
    async run(target) {
      const session = freshName();
      const a = new Probe(target, { session, mode: "exclusive", ...sh("cat") });
      const { you, holder } = await a.hello();
      same("the holder", holder, (you as { id: string }).id);
      const b = new Probe(target, { session });
      const { id } = (await b.hello()).you as { id: string };
      b.type("no");
      same("the error for the other", (await b.message("error")).code, "not_stdin_holder");
      b.say({ type: "request_stdin" });
      same("who asks", (await a.message("stdin_request")).id, id);
      a.say({ type: "grant_stdin", to: id });
      await b.until("the keyboard", () => b.all("stdin_holder").some((one) => one.id === id));
      b.type("yes");
      await a.output("yes");
      a.type("no longer");
      same("the error for the first", (await a.message("error")).code, "not_stdin_holder");
      b.say({ type: "kill" });
      await Promise.all([a.exit(), b.exit()]);
      same("the output", a.text(), "yes");
    },
  },
  {
    rules: ["C2"],
    title: "who comes and goes is told to the others, by id",
    async run(target) {
      const session = freshName();
      const a = new Probe(target, { session, ...sh("cat") });
      await a.hello();
      const b = new Probe(target, { session, name: "Bob" });
      const { id } = (await b.hello()).you as { id: string };
      const { participant } = await a.message("join");
      same("who came", [(participant as { id: string }).id, (participant as { name: string }).name], [id, "Bob"]);
      b.leave();
      same("who left", (await a.message("leave")).id, id);
      a.say({ type: "eof" });
      await a.exit();
    },
  },
  {
    rules: ["R9"],
    title: "a client that vanished keeps its place: the others are not told that it left",
    async run(target) {
      const session = freshName();
      const a = new Probe(target, { session, ...sh("echo up; cat") });
      await a.output("up\n");
      const b = new Probe(target, { session });
      await b.output("up\n");
      b.type("x");
      await a.output("x");
      b.cut();
      await pause(SILENCE_MS);
      same("who left", a.all("leave"), []);
      const c = await resumed(target, b, { offset: 4, stdin: 1 });
      same("the client", ((await c.hello()).you as { id: string }).id, ((await b.hello()).you as { id: string }).id);
      a.say({ type: "kill" });
      await a.exit();
    },
  },
];
