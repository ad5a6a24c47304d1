// T1 to T6: what a wait comes to, told of output, time, the exit, the keyboard, marks and screens.

import { OutputLog, STREAM_STDOUT } from "sandbox-stdio/core";
import { lastOutput, Wait, type WaitUntil, WorkShare } from "sandbox-stdio/programs";
import { describe, expect, test } from "vitest";
import { compilePattern } from "../src/patterns.ts";

function program(source: string, flags = "") {
  const result = compilePattern(source, flags);
  if (!result.ok) throw new Error(result.message);
  return result.program;
}
const match = (source: string, flags = ""): WaitUntil => ({ kind: "match", program: program(source, flags) });

const append = (log: OutputLog, text: string) => log.append(new TextEncoder().encode(text), STREAM_STDOUT);
function logOf(text = "", capacity?: number): OutputLog {
  const log = new OutputLog({ cols: 80, rows: 24 }, capacity);
  append(log, text);
  return log;
}
const text = (wanted: string) => ({ kind: "text", text: wanted }) as const;

function started(until: WaitUntil, options: { before?: string; from?: number; timeoutMs?: number } = {}) {
  const { before, from, timeoutMs = 30_000 } = options;
  const log = logOf(before, 4_096);
  const wait = new Wait({ until, log, from, timeoutMs, nowMs: 1_000 });
  wait.work();
  const output = (added: string, nowMs = 1_000) => {
    append(log, added);
    wait.output(nowMs);
  };
  return { wait, output, log };
}

describe("T2: where a wait looks", () => {
  test("T2: from the log's end at the call, if nothing is said", () => {
    const { wait, output } = started(match("ready"), { before: "ready\n" });
    expect(wait.result).toBe(undefined);
    output("rea");
    expect(wait.result).toBe(undefined);
    output("dy");
    expect(wait.result).toEqual({ outcome: "met", offset: 11, match: { from: 6, to: 11, text: "ready", groups: [] } });
  });

  test("T2: from `from` on, what came before the call included", () => {
    const { wait } = started(text("ready"), { before: "ready\n", from: 0 });
    expect(wait.result).toMatchObject({ outcome: "met", offset: 5 });
    expect(started(match("ready"), { before: "ready\n", from: 1 }).wait.result).toBe(undefined);
  });

  test("T2: what is no longer held is told as a gap", () => {
    const { wait } = started(match("end"), { before: `${"x".repeat(5_000)}end`, from: 0 });
    expect(wait.result).toMatchObject({ outcome: "met", gap: { from: 0, to: 907 } });
  });
});

describe("T4: the work of searching", () => {
  const hostile = match("(a*)*b");
  const LONG = "a".repeat(100_000);
  // Each look comes in a turn of its own, a while after the last.
  const EACH_ITS_TURN = () => Number.POSITIVE_INFINITY;
  const begun = (sharers: number, until = hostile) => {
    const setup = { until, log: logOf(LONG), from: 0, timeoutMs: 500, nowMs: 1_000 };
    return new Wait({ ...setup, share: new WorkShare(EACH_ITS_TURN, () => sharers) });
  };
  const pieces = (wait: Wait) => {
    let count = 0;
    do {
      wait.work();
      count += 1;
    } while (wait.isBehind);
    return count;
  };

  test("is done a piece at a time, and the waits of a session share what is done at a time", () => {
    const [alone, of20] = [pieces(begun(1)), pieces(begun(20))];
    expect(alone).toBeGreaterThan(2);
    expect(of20 / alone).toBeGreaterThan(15);
  });

  test.each<[string, WaitUntil, string]>([
    ["an expression that an event of a KiB alone does not bring behind", match("(?:[ab]?){20}c"), "a".repeat(1_024)],
    ["a literal, of which much stands everywhere", text(`b${"a".repeat(4_095)}`), "a".repeat(16_384)],
    ["a line that is overwritten, over and over", text("ready"), `${"a".repeat(8_000)}\r`],
  ])("of 256 waits in one turn is little more than that of one: %s", (_name, until, output) => {
    const waits: Wait[] = [];
    let work = 0;
    class Counted extends WorkShare {
      override spend(spent: number): void {
        super.spend(spent);
        work += spent;
      }
    }
    const share = new Counted(
      () => 1_000,
      () => waits.filter((wait) => wait.isBehind).length,
    );
    const log = logOf();
    const setup = { until, log, timeoutMs: 500, nowMs: 1_000 };
    for (let i = 0; i < 256; i += 1) waits.push(new Wait({ ...setup, share }));
    append(log, output);
    for (const wait of waits) wait.output(1_000);
    expect(work).toBeLessThan(500_000);
    const behind = waits.filter((wait) => wait.isBehind);
    expect(behind.length).toBeGreaterThan(100);
    // The last of them does not stay behind.
    const last = behind.at(-1);
    for (let turns = 0; last?.isBehind && turns < 10_000; turns += 1) last.work();
    expect(last?.isBehind).toBe(false);
  });

  test("of the groups of a match on the screen is done a piece at a time, too, whatever is drawn meanwhile", () => {
    const screen = ["a".repeat(50_000), "b"];
    const searched = (source: string, drawnAt: number) => {
      const wait = begun(20, { kind: "screen", program: program(source) });
      wait.screen(screen, 7);
      let count = 1;
      for (; wait.isBehind; count += 1) {
        wait.work();
        if (count === drawnAt) wait.screen(["something else"], 8);
      }
      return { count, result: wait.result };
    };
    const place = searched("(?:a|\\n)*b", 0);
    const groups = searched("((?:a|\\n)*)b", Math.ceil(place.count * 1.5));
    expect(groups.count / place.count).toBeGreaterThan(1.9);
    expect(groups.result).toMatchObject({ offset: 7, match: { from: 7, groups: [`${"a".repeat(50_000)}\n`] } });
  });

  test("a literal that begins where the search was given up is found from the offset that is answered", () => {
    // It takes in 2,000 bytes at a time.
    const log = logOf(`${"x".repeat(5_997)}needle${"x".repeat(100_000)}`);
    const setup = { until: text("needle"), log, timeoutMs: 500, nowMs: 1_000 };
    const wait = new Wait({ ...setup, from: 0, share: new WorkShare(EACH_ITS_TURN, () => 10_000) });
    wait.timeOver(1_500);
    wait.output(6_500);
    expect(wait.kept.seen).toBe(6_000);
    expect(wait.result).toEqual({ outcome: "timeout", undecided: true, offset: 5_995 });
    const next = new Wait({ ...setup, from: wait.result?.offset });
    next.work();
    expect(next.result).toMatchObject({ outcome: "met", match: { from: 5_997 } });
  });

  test("that is left after the wait's time may be given up: the answer says how far it was", () => {
    const wait = begun(1);
    wait.work();
    expect(wait.result).toBeUndefined();
    wait.timeOver(1_500);
    wait.output(6_499);
    expect(wait.result).toBeUndefined();
    wait.output(6_500);
    // A match may begin at the first letter.
    expect(wait.result).toEqual({ outcome: "timeout", undecided: true, offset: 0 });
    const later = begun(1, match("[xy]b"));
    later.work();
    later.timeOver(1_500);
    expect(later.result).toEqual({ outcome: "timeout", offset: later.kept.seen });
  });

  test.each([
    ["the exit", (wait: Wait) => wait.exited({ code: 0 }), { exit: { code: 0 } }],
    ["the loss", (wait: Wait) => wait.lost(), {}],
  ])(
    "T3: that is given up is undecided, also after %s: the match may be in what was not searched",
    (_name, end, more) => {
      for (const until of [match("a{50}b|last"), { kind: "screen", program: program("(a*)*b") } as const]) {
        const wait = begun(10_000, until);
        if (until.kind === "screen") wait.screen([LONG], 7);
        end(wait);
        wait.output(6_500);
        const offset = until.kind === "screen" ? LONG.length : expect.any(Number);
        expect(wait.result).toEqual({ outcome: "timeout", undecided: true, offset, ...more });
      }
    },
  );
});

describe("T3: outcomes", () => {
  test("T3: a time-out is an answer, and never looks like success", () => {
    const { wait, output } = started(match("ready"), { timeoutMs: 500 });
    output("almost");
    expect(wait.nextTickMs).toBe(1_500);
    wait.tick(1_499);
    expect(wait.result).toBe(undefined);
    wait.tick(1_500);
    expect(wait.result).toEqual({ outcome: "timeout", offset: 6 });
    output("ready");
    expect(wait.result).toEqual({ outcome: "timeout", offset: 6 });
  });

  test("T3: with no time at all it looks once", () => {
    const { wait } = started(match("ready"), { before: "ready", from: 0, timeoutMs: 0 });
    wait.tick(1_000);
    expect(wait.result?.outcome).toBe("met");
    const late = started(match("steady"), { before: "ready", from: 0, timeoutMs: 0 }).wait;
    late.tick(1_000);
    expect(late.result?.outcome).toBe("timeout");
  });

  test("T3: the last output before the exit is searched before `exited` is said", () => {
    const { wait, log } = started(match("bye"));
    append(log, "bye");
    wait.exited({ code: 0 });
    expect(wait.result?.outcome).toBe("met");
    const other = started(match("bye")).wait;
    other.exited({ code: 3 });
    expect(other.result).toEqual({ outcome: "exited", offset: 0, exit: { code: 3 } });
  });

  test("T3: a hostile expression is searched in turns, and what came before the time-out is not missed", () => {
    const { wait, output } = started(match("(?:[ab]?){900}c"), { timeoutMs: 10 });
    output(`${"ab".repeat(600)}c`);
    expect([wait.isBehind, wait.result]).toEqual([true, undefined]);
    wait.tick(2_000);
    let turns = 0;
    while (wait.isBehind) {
      wait.work();
      turns += 1;
    }
    expect(turns).toBeGreaterThan(5);
    expect(wait.result).toMatchObject({ outcome: "met", offset: 1_201 });
  });

  test("T3: lost is told; the first outcome stays", () => {
    const { wait } = started({ kind: "exit" });
    wait.lost();
    wait.exited({ code: 0 });
    expect(wait.result).toEqual({ outcome: "lost", offset: 0 });
  });
});

describe("T1: each condition", () => {
  test("T1: exit", () => {
    const { wait } = started({ kind: "exit" });
    wait.exited({ code: 7 });
    expect(wait.result).toEqual({ outcome: "met", offset: 0, exit: { code: 7 } });
  });

  test("T1, T5: idleMs counts from the call, and again from each output", () => {
    const { wait, output } = started({ kind: "idle", idleMs: 500 });
    expect(wait.nextTickMs).toBe(1_500);
    output("x", 1_400);
    wait.tick(1_500);
    expect([wait.result, wait.nextTickMs]).toEqual([undefined, 1_900]);
    wait.tick(1_900);
    expect(wait.result).toEqual({ outcome: "met", offset: 1 });
    const ended = started({ kind: "idle", idleMs: 500 }).wait;
    ended.exited({ code: 0 });
    expect(ended.result?.outcome).toBe("exited");
  });

  test("T1: commandEnd is the first at or behind `from`, with the code that the shell says", () => {
    const { wait } = started({ kind: "commandEnd" }, { before: "x".repeat(100), from: 50 });
    wait.commandEnded({ offset: 49, exit: 1 });
    expect(wait.result).toBe(undefined);
    wait.commandEnded({ offset: 50, exit: 130 });
    expect(wait.result).toEqual({ outcome: "met", offset: 50, exit: { code: 130 } });
  });

  test("T1: screen looks at the rows as drawn", () => {
    const { wait } = started({ kind: "screen", program: program("^(\\w+): (ok|(no))$", "m") });
    wait.screen(["tests: run", ""], 10);
    expect(wait.result).toBe(undefined);
    wait.screen(["-", "tests: ok", ""], 20);
    expect(wait.result).toEqual({
      outcome: "met",
      offset: 20,
      match: { from: 20, to: 20, text: "tests: ok", groups: ["tests", "ok", null] },
    });
  });

  test("T1: keyboard is met when it is free, or the asker's", () => {
    const { wait } = started({ kind: "keyboard" });
    wait.keyboard(false);
    expect(wait.result).toBe(undefined);
    wait.keyboard(true);
    expect(wait.result?.outcome).toBe("met");
  });
});

test("T3: output is the last maxBytes as plain, in whole characters", () => {
  const { log } = started({ kind: "exit" }, { before: "\x1b[1mone\x1b[0m\r\n10%\r20%\r\né日" });
  expect(lastOutput(log, 8_192)).toEqual({ output: "one\n20%\né日" });
  expect(lastOutput(log, 4)).toEqual({ output: "日" });
});

test("T3: output that is not UTF-8 is marked; a character that may still be finished is left out", () => {
  const { log } = started({ kind: "exit" }, { before: "was: \ufffd\n" });
  expect(lastOutput(log, 8_192)).toEqual({ output: "was: \ufffd\n" });
  log.append(new Uint8Array([0x61, 0xe2, 0x82]), STREAM_STDOUT);
  expect(lastOutput(log, 8_192, true)).toEqual({ output: "was: \ufffd\na" });
  expect(lastOutput(log, 8_192, false)).toEqual({ output: "was: \ufffd\na\ufffd", lossy: true });
});

describe("H21e: a wait that goes on in another memory", () => {
  const LINE = "0123456789 a line of thirty-one\n";

  /** As much as a log holds, searched and then parked; `more` comes afterwards, in another memory. */
  function resumed(until: WaitUntil, searched: string, more: string, capacity = 1_048_576) {
    const log = logOf(searched, capacity);
    const setup = { until, log, from: 0, timeoutMs: 30_000, nowMs: 1_000 };
    const toTheEnd = (wait: Wait) => {
      do wait.work();
      while (wait.isBehind);
    };
    const first = new Wait(setup);
    toTheEnd(first);
    if (first.result !== undefined) throw new Error("met before it was parked");
    const second = new Wait({ ...setup, kept: structuredClone(first.kept), nowMs: 9_000 });
    toTheEnd(second);
    expect(second.result).toBeUndefined();
    append(log, more);
    second.output(9_000);
    toTheEnd(second);
    return second.result;
  }

  test.each(["", LINE, LINE.repeat(300), LINE.repeat(20_000), "x".repeat(400_000)])(
    "H21e: a match that began before is found (#%#)",
    (before) => {
      const at = before.length;
      for (const until of [text("needle"), match("n[e]{2}dle"), match("\\bneedle|^dle", "m")]) {
        const found = resumed(until, `${before} nee`, "dle\n");
        expect(found).toMatchObject({ outcome: "met", offset: at + 7, match: { from: at + 1, to: at + 7 } });
        expect(found).not.toHaveProperty("gap");
      }
    },
  );

  test("H21e: where it goes on is no beginning: neither of the text, nor of a line or a word", () => {
    for (const before of [LINE.repeat(20_000), "x".repeat(400_000), `${"x".repeat(400_000)}\n`]) {
      expect(resumed(match("^[0-9x]"), `no${before}`, "")).toBeUndefined();
    }
    expect(resumed(match("^x+y", "m"), `a${"x".repeat(400_000)}`, "y")).toBeUndefined();
  });

  test("H21e: only what was gone before it could be searched is a gap", () => {
    const kept = 65_536;
    expect(resumed(text("end"), "x".repeat(40_000), "y".repeat(1_000), kept)).toBeUndefined();
    const found = resumed(text("end"), "x".repeat(40_000), `${"y".repeat(kept + 10)}end`, kept);
    expect(found).toMatchObject({ outcome: "met", gap: { from: 40_000, to: 40_013 } });
  });

  test("H21e: idle is counted from what came last, in whichever memory", () => {
    const log = logOf();
    const setup = { until: { kind: "idle", idleMs: 500 }, log, from: 0, timeoutMs: 30_000, nowMs: 1_000 } as const;
    const kept = structuredClone(new Wait(setup).kept);
    const quiet = new Wait({ ...setup, kept, nowMs: 1_400 });
    quiet.tick(1_500);
    expect(quiet.result).toMatchObject({ outcome: "met" });
    append(log, "x");
    const busy = new Wait({ ...setup, kept, nowMs: 1_400 });
    busy.output(1_450);
    busy.tick(1_949);
    expect(busy.result).toBeUndefined();
    busy.tick(1_950);
    expect(busy.result).toMatchObject({ outcome: "met" });
  });
});
