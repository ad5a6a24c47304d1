// Who is here and who may type, as a client knows it, and the words for it.

import { describe, expect, test } from "vitest";
import {
  announcementOf,
  colourIndex,
  followParticipants,
  type Hello,
  keyboardStateOf,
  keyboardWords,
  mayType,
  nameOf,
  otherDrivers,
  type Participant,
  type Participants,
  participantsOf,
  type ServerMessage,
  stoppingWords,
  yieldsKeyboard,
} from "../../src/index.ts";
import { hello } from "../support/hello.ts";

const ann: Participant = { id: "a", name: "Ann", role: "driver" };
const bob: Participant = { id: "b", name: "Bob", role: "driver" };
const cleo: Participant = { id: "c", name: "Cleo", role: "viewer" };

function people(you: Participant, more: Partial<Hello> = {}): Participants {
  return participantsOf(hello({ you, holder: "a", mode: "exclusive", participants: [ann, bob, cleo], ...more }));
}

/** What is announced of each message in turn, "-" for nothing, and what it comes to. */
function hear(before: Participants, ...messages: ServerMessage[]): { words: string[]; after: Participants } {
  let after = before;
  const words = messages.map((message) => {
    const text = announcementOf(after, message) ?? "-";
    after = followParticipants(after, message);
    return text;
  });
  return { words, after };
}

test("L11: a guest's name never stands without saying that it is one's, and a program's neither", () => {
  const guest: Participant = { id: "g", name: "Ann", role: "driver", kind: "guest" };
  const program: Participant = { id: "p", name: "deploy", role: "viewer", kind: "program" };
  const all = people(ann, { participants: [{ ...ann, kind: "person" }, guest, program], holder: "g" });
  expect(["a", "g", "p"].map((id) => nameOf(all, id))).toEqual(["Ann", "Ann 2 (guest)", "deploy (program)"]);
  expect(keyboardWords(all)).toBe("Ann 2 (guest) has the keyboard");
  const eve: Participant = { ...guest, id: "e", name: "Eve" };
  expect(hear(all, { type: "join", participant: eve }, { type: "leave", id: "e" }).words).toEqual([
    "Eve (guest) joined",
    "Eve (guest) left",
  ]);
});

describe("the keyboard", () => {
  test("is yours, taken, free, shared or none of a viewer's business", () => {
    expect(keyboardStateOf(people(ann))).toBe("yours");
    expect(keyboardStateOf(people(bob))).toBe("taken");
    expect(keyboardStateOf(people(bob, { holder: "" }))).toBe("free");
    expect(keyboardStateOf(people(bob, { mode: "collaborative", holder: "" }))).toBe("shared");
    expect(keyboardStateOf(people(cleo, { mode: "collaborative", holder: "" }))).toBe("none");
    expect([ann, bob, cleo].map((you) => mayType(people(you)))).toEqual([true, false, false]);
  });

  test("is said to be whose it is", () => {
    expect([ann, bob, cleo].map((you) => keyboardWords(people(you)))).toEqual([
      "You have the keyboard",
      "Ann has the keyboard",
      "You are a viewer; Ann types",
    ]);
    expect(keyboardWords(people(bob, { holder: "" }))).toBe("The keyboard is free");
    expect(keyboardWords(people(cleo, { mode: "collaborative", holder: "" }))).toBe("You are a viewer");
  });

  test("D9b: is a client's that relies on it, also where everyone may type, until it gives it back or leaves", () => {
    const all = [ann, { ...bob, alone: true }, cleo];
    const given: ServerMessage[] = [
      { type: "stdin_holder", id: "b" },
      { type: "stdin_holder", id: "" },
    ];
    for (const you of [ann, cleo]) {
      const before = people(you, { participants: all, mode: "collaborative", holder: "" });
      expect(hear(before, ...given).words).toEqual([
        "Bob has the keyboard",
        you === ann ? "Everyone may type" : "You are a viewer",
      ]);
      const during = followParticipants(before, { type: "stdin_holder", id: "b" });
      expect([keyboardStateOf(before), keyboardStateOf(during), mayType(during)]).toEqual(
        you === ann ? ["shared", "taken", false] : ["none", "none", false],
      );
      expect(keyboardWords(during)).toBe(you === ann ? "Bob has the keyboard" : "You are a viewer; Bob types");
      expect(keyboardWords(followParticipants(during, { type: "leave", id: "b" }))).toBe(
        you === ann ? "Everyone may type" : "You are a viewer",
      );
    }
    // One that does not rely on it changes nothing for the others.
    const participants: Participant[] = [ann, bob, { ...cleo, role: "driver" }];
    const before = people(cleo, { participants, mode: "collaborative", holder: "" });
    expect(hear(before, ...given).words).toEqual(["-", "-"]);
  });

  test("K2d: is a program's that yields it to a person, and to no guest or program", () => {
    const program: Participant = { id: "p", name: "deploy", role: "driver", kind: "program" };
    const yields = (you: Participant, holder = "p") =>
      yieldsKeyboard(people(you, { participants: [ann, you, program], holder }));
    const kinds = ["person", "guest", "program"] as const;
    expect([bob, ...kinds.map((kind) => ({ ...bob, kind }))].map((you) => yields(you))).toEqual([
      ...[true, true, false, false],
    ]);
    expect([yields(bob, "a"), yields(bob, ""), yields({ ...bob, role: "viewer" })]).toEqual([false, false, false]);
  });

  test("can be given to the other drivers", () => {
    expect(otherDrivers(people(ann))).toEqual([bob]);
  });
});

describe("what is announced", () => {
  test("to the holder: a request, and that it is gone once the keyboard changes hands", () => {
    const asked = hear(people(ann), { type: "stdin_request", id: "b" });
    expect(asked.words).toEqual(["Bob asks for the keyboard"]);
    expect(asked.after.requests).toEqual(["b"]);
    expect(followParticipants(asked.after, { type: "stdin_request", id: "b" })).toBe(asked.after);
    const given = hear(asked.after, { type: "stdin_holder", id: "b" });
    expect(given.words).toEqual(["Bob has the keyboard"]);
    expect([given.after.requests, given.after.holder]).toEqual([[], "b"]);
  });

  test("to who asks, and to who looks on", () => {
    const request: ServerMessage = { type: "stdin_request", id: "b" };
    expect(announcementOf(people(bob), request)).toBe("You have asked Ann for the keyboard");
    expect(announcementOf(people(cleo), request)).toBe("Bob asks Ann for the keyboard");
    expect(announcementOf(people(bob), { type: "stdin_holder", id: "b" })).toBe("You have the keyboard");
  });

  test("of people: that they come, and that they go with what they asked for", () => {
    const dan: Participant = { id: "d", name: "Dan", role: "viewer" };
    const { words, after } = hear(
      people(ann),
      { type: "join", participant: dan },
      { type: "join", participant: { ...dan, name: "Daniel" } },
      { type: "stdin_request", id: "b" },
      { type: "leave", id: "b" },
      { type: "leave", id: "nobody" },
    );
    expect(words).toEqual(["Dan joined as a viewer", "-", "Bob asks for the keyboard", "Bob left", "-"]);
    expect(after.participants.map(({ name }) => name)).toEqual(["Ann", "Cleo", "Daniel"]);
    expect(after.requests).toEqual([]);
  });

  test("of a holder that leaves: that the keyboard is free; in a collaborative session nothing", () => {
    const left: ServerMessage[] = [
      { type: "leave", id: "a" },
      { type: "stdin_holder", id: "" },
    ];
    expect(hear(people(bob), ...left).words).toEqual(["Ann left", "The keyboard is free"]);
    expect(hear(people(bob, { mode: "collaborative" }), ...left).words).toEqual(["Ann left", "-"]);
  });

  test("is nothing where nothing changes", () => {
    const before = people(ann);
    expect(announcementOf(before, { type: "stdin_holder", id: "a" })).toBeUndefined();
    expect(followParticipants(before, { type: "pong" })).toBe(before);
  });
});

describe("names and colours", () => {
  test("namesakes are numbered in the order in which they came, and the nameless have a name", () => {
    const again: Participant = { id: "b2", name: "Bob", role: "driver" };
    const quiet: Participant = { id: "q", name: "", role: "viewer" };
    const all = people(ann, { participants: [ann, bob, again, quiet] });
    expect(["b", "b2", "q", "gone"].map((id) => nameOf(all, id))).toEqual(["Bob", "Bob 2", "Somebody", "Somebody"]);
  });

  test("a colour is always the same for the same client, and all of them are used evenly", () => {
    expect(colourIndex("client-1", 8)).toBe(colourIndex("client-1", 8));
    const counts = new Array<number>(8).fill(0);
    for (let i = 0; i < 8000; i += 1) {
      const index = colourIndex(`client-${i}`, 8);
      counts[index] = (counts[index] ?? 0) + 1;
    }
    expect(Math.min(...counts)).toBeGreaterThan(800);
    expect(Math.max(...counts)).toBeLessThan(1200);
  });
});

test.each([
  [840, "14 min"],
  [125, "2 min"],
  [119, "119 s"],
  [3, "3 s"],
])("X8: that the machine goes away in %i s is said as %s", (seconds, left) => {
  expect(stoppingWords(seconds)).toContain(`stops in ${left}:`);
});
