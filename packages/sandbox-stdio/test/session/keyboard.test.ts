// Who may type: every rule, and that nothing which is forbidden is ever allowed, whatever is asked in whatever order.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Mode, Role } from "../../src/index.ts";
import { Keyboard } from "../../src/session/keyboard.ts";

const driver = (id: string, isAdmin = false) => ({ id, role: "driver" as const, isAdmin });
const viewer = (id: string, isAdmin = false) => ({ id, role: "viewer" as const, isAdmin });
const OK = { ok: true };
const no = (fault: string) => ({ ok: false, fault });

function exclusive(...members: { id: string; role: Role; isAdmin: boolean }[]): Keyboard {
  const floor = new Keyboard("exclusive");
  for (const member of members) floor.join(member);
  return floor;
}

describe("an exclusive session", () => {
  test("K1: the first driver holds the keyboard, not a viewer that came before it, nor whoever comes later", () => {
    const floor = exclusive(viewer("v"), driver("a"), driver("b"));
    expect(floor.holder).toBe("a");
    expect([floor.mayDrive("a"), floor.mayDrive("b"), floor.mayDrive("v"), floor.mayDrive("x")]).toEqual([
      OK,
      no("not_stdin_holder"),
      no("viewer"),
      no("no_such_client"),
    ]);
  });

  test("K2: who asks for a free keyboard gets it; for one that is held, the wish is told", () => {
    const floor = exclusive(driver("a"), driver("b"), viewer("v"));
    expect(floor.request("b")).toEqual({ ok: true, isTaken: true });
    expect(floor.holder).toBe("a");
    expect(floor.request("a")).toEqual(OK);
    expect(floor.release("a")).toEqual(OK);
    expect(floor.holder).toBe("");
    expect([floor.request("v"), floor.request("x")]).toEqual([{ ok: true, isTaken: true }, no("no_such_client")]);
    expect(floor.holder).toBe("");
    expect(floor.request("b")).toEqual(OK);
    expect(floor.holder).toBe("b");
  });

  test("K2: only the holder gives it away, and only to a driver that is there", () => {
    const floor = exclusive(driver("a"), driver("b"), viewer("v"));
    expect([floor.grant("b", "b"), floor.grant("v", "b"), floor.release("b")]).toEqual(
      Array(3).fill(no("not_stdin_holder")),
    );
    expect([floor.grant("a", "v"), floor.grant("a", "x")]).toEqual([no("viewer"), no("no_such_client")]);
    expect(floor.grant("a", "b")).toEqual(OK);
    expect(floor.holder).toBe("b");
  });

  test("K2: it is taken by force with the scope for it, and by a driver only", () => {
    const floor = exclusive(driver("a"), driver("b"), driver("boss", true), viewer("watcher", true));
    expect([floor.forceTake("b"), floor.forceTake("watcher"), floor.forceTake("x")]).toEqual([
      no("not_allowed"),
      no("viewer"),
      no("no_such_client"),
    ]);
    expect(floor.forceTake("boss")).toEqual(OK);
    expect(floor.holder).toBe("boss");
  });

  test("K2: when its holder goes it is free, and stays so until somebody asks, whoever comes", () => {
    const floor = exclusive(driver("a"), driver("b"));
    expect([floor.leave("b", true), floor.leave("a", true), floor.holder]).toEqual([false, true, ""]);
    floor.join(driver("c"));
    expect(floor.holder).toBe("");
    expect(floor.request("c")).toEqual(OK);
  });

  test("K2: a holder that never took part has not had it: the next first driver is the first", () => {
    const floor = exclusive(driver("a"));
    floor.leave("a", false);
    floor.join(viewer("v"));
    expect(floor.holder).toBe("");
    floor.join(driver("a"));
    expect(floor.holder).toBe("a");
  });

  test("it is lent to drivers alone, and a turn is over when it goes to another, not when it stays", () => {
    const floor = exclusive(driver("a"), driver("b"), viewer("v"));
    expect([floor.lend("v"), floor.lend("x")]).toEqual([no("viewer"), no("no_such_client")]);
    const turns = ["a", "a", "b"].map((to) => [floor.grant("a", to).ok, floor.turn]);
    expect(turns).toEqual([
      [true, 1],
      [true, 1],
      [true, 2],
    ]);
  });

  test("H8: told that nobody has it, where nobody had, it still goes to the first driver", () => {
    const floor = exclusive();
    floor.setHolder("");
    floor.join(driver("a"));
    floor.setHolder("a");
    expect([floor.holder, floor.isLent]).toEqual(["a", false]);
  });

  test("H7: made again, it goes to nobody who comes where it was held before", () => {
    const held = new Keyboard("exclusive", "a");
    held.join(driver("b"));
    expect(held.holder).toBe("a");
    const freed = new Keyboard("exclusive", "", true);
    freed.join(driver("b"));
    expect(freed.holder).toBe("");
  });
});

test("K1: in a collaborative session every driver may type and no viewer, and nobody is given the keyboard by coming", () => {
  const floor = new Keyboard("collaborative");
  for (const member of [driver("a"), driver("b"), viewer("v", true)]) floor.join(member);
  expect([floor.holder, floor.mayDrive("a"), floor.mayDrive("b"), floor.mayDrive("v")]).toEqual([
    "",
    OK,
    OK,
    no("viewer"),
  ]);
});

test("D9: while one holds the keyboard that relies on it, nobody else types, also where everybody may", () => {
  const floor = new Keyboard("collaborative");
  for (const member of [driver("a"), { ...driver("b"), holdsAlone: true }]) floor.join(member);
  const may = () => [floor.mayDrive("a").ok, floor.mayDrive("b").ok];
  expect([may(), floor.request("a").ok, may()]).toEqual([[true, true], true, [true, true]]);
  expect([floor.grant("a", "b").ok, floor.mayDrive("a"), floor.mayDrive("b").ok]).toEqual([
    true,
    no("not_stdin_holder"),
    true,
  ]);
  floor.leave("b", true);
  expect(may()[0]).toBe(true);
});

test.each<Mode>(["exclusive", "collaborative"])(
  "K15: %s: a viewer that asked and is given the keyboard types alone, until it or a driver ends that",
  (mode) => {
    const floor = new Keyboard(mode);
    const program = { ...driver("p"), kind: "program" as const };
    for (const member of [driver("a"), driver("b"), program, viewer("v"), viewer("w")]) floor.join(member);
    const may = () => ["a", "b", "v", "w"].filter((id) => floor.mayDrive(id).ok).join("");
    const atFirst = mode === "exclusive" ? "a" : "ab";
    expect([floor.grant("a", "v"), floor.grant("w", "v"), may()]).toEqual([
      no("viewer"),
      no("not_stdin_holder"),
      atFirst,
    ]);
    expect([floor.request("v"), floor.request("w"), may()]).toEqual([
      { ok: true, isTaken: true },
      { ok: true, isTaken: true },
      atFirst,
    ]);
    expect([floor.grant("p", "v").ok, floor.grant("v", "v").ok, floor.forceTake("v").ok]).toEqual([
      false,
      false,
      false,
    ]);
    expect([floor.grant("a", "v"), may()]).toEqual([OK, "v"]);
    expect([floor.grant("v", "w").ok, floor.grant("b", "w").ok, may()]).toEqual([false, false, "v"]);
    expect([floor.request("b"), may(), floor.holder]).toEqual(
      [OK, "b", "b"].map((one, i) => (i === 1 && mode !== "exclusive" ? "ab" : one)),
    );
    // Given once, it isn't given again without another request.
    expect(floor.grant("b", "v")).toEqual(no("viewer"));
    floor.request("v");
    expect([floor.grant("b", "v"), floor.release("v"), floor.mayDrive("v").ok]).toEqual([OK, OK, false]);
  },
);

test("K15: a driver that comes back as a viewer has lost the keyboard, a viewer that comes back keeps a lent one", () => {
  const floor = exclusive(driver("a"), driver("b"), viewer("v"));
  floor.join(viewer("a"));
  expect([floor.holder, floor.mayDrive("a")]).toEqual(["", no("viewer")]);
  floor.request("b");
  floor.request("v");
  floor.grant("b", "v");
  floor.join(viewer("v"));
  expect([floor.holder, floor.mayDrive("v")]).toEqual(["v", OK]);
  // Nor has it asked any more once it left.
  floor.request("b");
  floor.request("v");
  floor.leave("v", true);
  floor.join(viewer("v"));
  expect(floor.grant("b", "v")).toEqual(no("viewer"));
  // What a driver took for a program is not a viewer's, nor what a driver held before a restart.
  floor.lend("b");
  floor.join(viewer("b"));
  const restarted = new Keyboard("exclusive", "a");
  restarted.join(viewer("a"));
  expect([floor.holder, restarted.holder]).toEqual(["", ""]);
});

test("K3: a viewer that asked for nothing may do nothing, nor may a driver that does not hold an exclusive keyboard", () => {
  const ids = ["a", "b", "c", "v", "w"];
  const id = fc.constantFrom(...ids, "nobody", "");
  const kind = fc.constantFrom("join", "leave", "request", "release", "force", "set", "grant");
  const step = fc.record({ kind, who: id, to: id });
  const roleOf = (who: string): Role => (who === "v" || who === "w" ? "viewer" : "driver");
  fc.assert(
    fc.property(
      fc.constantFrom<Mode>("exclusive", "collaborative"),
      fc.array(step, { maxLength: 60 }),
      (mode, steps) => {
        const floor = new Keyboard(mode);
        const present = new Set<string>();
        const asked = new Set<string>();
        for (const { kind, who, to } of steps) {
          const before = floor.holder;
          let isChangeAllowed = false;
          if (kind === "join" && ids.includes(who)) {
            floor.join({ id: who, role: roleOf(who), isAdmin: who === "c" || who === "w" });
            present.add(who);
            isChangeAllowed = (before === "" && floor.holder === who) || (before === who && roleOf(who) === "viewer");
          } else if (kind === "leave") {
            isChangeAllowed = floor.leave(who, to !== who);
            present.delete(who);
            asked.delete(who);
          } else if (kind === "request") {
            isChangeAllowed = floor.request(who).ok && (before === "" || roleOf(before) === "viewer");
            if (isChangeAllowed || floor.holder === before) asked.add(who);
          } else if (kind === "release") isChangeAllowed = floor.release(who).ok && before === who;
          else if (kind === "force") isChangeAllowed = floor.forceTake(who).ok && who === "c";
          else if (kind === "grant") {
            const mayType = floor.mayDrive(who).ok;
            isChangeAllowed = floor.grant(who, to).ok && (before === who || (mayType && asked.has(to)));
          } else if (kind === "set" && present.has(who)) {
            floor.setHolder(who);
            isChangeAllowed = true;
          }
          if (floor.holder !== before) expect(isChangeAllowed).toBe(true);
          for (const one of [...ids, "nobody"]) {
            if (!floor.mayDrive(one).ok) continue;
            expect(present.has(one)).toBe(true);
            if (mode === "exclusive" || roleOf(one) === "viewer") expect(floor.holder).toBe(one);
            if (roleOf(one) === "viewer") expect(asked.has(one)).toBe(true);
          }
        }
      },
    ),
    { numRuns: 500, seed: 4711 },
  );
});
