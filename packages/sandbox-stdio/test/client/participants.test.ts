// Who is here and who may type, as a client knows it, and the words for it.

import { describe, expect, test } from "vitest";
import {
  announcementOf,
  colourIndex,
  followParticipants,
  type Hello,
  isYourOther,
  keyboardStateOf,
  keyboardWords,
  mayGiveTo,
  mayType,
  nameOf,
  otherDrivers,
  type Participant,
  type Participants,
  participantsOf,
  personKey,
  personsOf,
  type ServerMessage,
  stoppingWords,
  yieldsKeyboard,
  yourAsk,
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

  test("K15: is given by its holder to a driver, and to a viewer that asks by whoever may type", () => {
    const cleoAsks: ServerMessage = { type: "stdin_request", id: "c" };
    const mayGive = (you: Participant, before: Partial<Hello> = {}, ...messages: ServerMessage[]) => {
      const { after } = hear(people(you, before), ...messages);
      return ["a", "b", "c", "nobody"].filter((id) => mayGiveTo(after, id)).join("");
    };
    expect([mayGive(ann), mayGive(ann, {}, cleoAsks)]).toEqual(["b", "bc"]);
    expect([mayGive(bob, {}, cleoAsks), mayGive(cleo, { holder: "c" }, cleoAsks)]).toEqual(["", "ab"]);
    const shared = { mode: "collaborative", holder: "" } as const;
    expect([mayGive(bob, shared), mayGive(bob, shared, cleoAsks)]).toEqual(["", "c"]);
    expect(mayGive(cleo, shared, { type: "stdin_request", id: "b" })).toBe("");
  });

  test("K12: is one person's alone while an ask of several is taken, and that ask is told with its taker", () => {
    const ask = (id: string, secret: boolean): ServerMessage => ({ type: "ask", id, writer: "w", reason: "r", secret });
    const before = people(ann, { mode: "collaborative", holder: "" });
    const { after: asked } = hear(before, ask("1", false), ask("2", true));
    const { after } = hear(asked, { type: "ask_state", id: "2", by: "b" }, { type: "stdin_holder", id: "b" });
    expect(after.asks.map(({ id, by }) => [id, by])).toEqual([
      ["1", undefined],
      ["2", "b"],
    ]);
    expect([before, asked, after].map(keyboardStateOf)).toEqual(["shared", "shared", "taken"]);
    // One that is not taken takes nobody's right, whoever holds the keyboard.
    expect(keyboardStateOf({ ...asked, holder: "b" })).toBe("shared");
    const taken = hear(after, { type: "ask_state", id: "1", by: "a" }).after;
    expect([yourAsk(after), yourAsk(taken)?.id]).toEqual([undefined, "1"]);
    expect(hear(taken, { type: "ask_state", id: "1", answer: "done" }).after.asks.map(({ id }) => id)).toEqual(["2"]);
  });

  test("a line is taken to be shown until the process says otherwise", () => {
    const before = people(ann);
    expect([before.echo, followParticipants(before, { type: "echo", on: false, offset: 0 }).echo]).toEqual([
      true,
      false,
    ]);
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
    const shared = people(cleo, { mode: "collaborative", holder: "" });
    expect(announcementOf(shared, { type: "stdin_request", id: "c" })).toBe(
      "You have asked everybody who types for the keyboard",
    );
  });

  test("of people: that they come, and that they go with what they asked for", () => {
    const dan: Participant = { id: "d", name: "Dan", role: "viewer" };
    const { words, after } = hear(
      people(ann),
      { type: "join", participant: dan },
      { type: "join", participant: { ...dan, name: "Daniel" } },
      { type: "stdin_request", id: "b" },
      { type: "stdin_request", id: "d" },
      { type: "leave", id: "b" },
      { type: "leave", id: "nobody" },
    );
    const asked = ["Bob asks for the keyboard", "Daniel asks for the keyboard"];
    expect(words).toEqual(["Dan joined as a viewer", "-", ...asked, "Bob left", "-"]);
    expect(after.participants.map(({ name }) => name)).toEqual(["Ann", "Cleo", "Daniel"]);
    expect(after.requests).toEqual(["d"]);
  });

  test("of a holder that leaves: that the keyboard is free; in a collaborative session nothing", () => {
    const left: ServerMessage[] = [
      { type: "leave", id: "a" },
      { type: "stdin_holder", id: "" },
    ];
    expect(hear(people(bob), ...left).words).toEqual(["Ann left", "The keyboard is free"]);
    expect(hear(people(bob, { mode: "collaborative" }), ...left).words).toEqual(["Ann left", "-"]);
    // To a viewer, too.
    expect(hear(people(cleo), ...left).words).toEqual(["Ann left", "The keyboard is free"]);
  });

  test("K11: of an ask: what is wanted, and that it is wanted no more; not who takes it, nor of one that is not known", () => {
    const { words } = hear(
      people(ann),
      { type: "ask", id: "q", writer: "api", reason: "sudo", secret: false },
      { type: "ask_state", id: "q", by: "b" },
      { type: "ask_state", id: "other", answer: "done" },
      { type: "ask_state", id: "q", answer: "done" },
      { type: "ask_state", id: "q", answer: "done" },
    );
    expect(words).toEqual(["api asks for you: sudo", "-", "-", "api asks no more", "-"]);
  });

  test("is nothing where nothing changes", () => {
    const before = people(ann);
    expect(announcementOf(before, { type: "stdin_holder", id: "a" })).toBeUndefined();
    expect(followParticipants(before, { type: "pong" })).toBe(before);
  });
});

describe("L11b: the windows of one person", () => {
  const desk: Participant = { ...ann, person: "Ann" };
  const phone: Participant = { id: "a2", name: "Ann (2)", role: "viewer", person: "Ann" };
  const room = (you: Participant, more: Partial<Hello> = {}) =>
    people(you, { participants: [desk, bob, phone], ...more });

  test("are one person with one name; a client of an older server is a person of its own", () => {
    expect(personsOf(room(bob)).map((windows) => windows.map(({ id }) => id))).toEqual([["a", "a2"], ["b"]]);
    expect(["a", "a2"].map((id) => nameOf(room(bob), id))).toEqual(["Ann", "Ann"]);
    expect([personKey(desk), personKey(bob)]).toEqual([personKey(phone), "b"]);
    // Of two persons with one name the second is numbered once.
    const other: Participant = { id: "o", name: "Ann", role: "driver" };
    expect(nameOf(room(bob, { participants: [desk, phone, other] }), "o")).toBe("Ann 2");
    const behind = room(bob, { participants: [other, desk, phone] });
    expect(["o", "a", "a2"].map((id) => nameOf(behind, id))).toEqual(["Ann", "Ann 2", "Ann 2"]);
  });

  test("are told from those of others: you hold the keyboard elsewhere, and give it to your other window", () => {
    expect([desk, bob].map((you) => isYourOther(room(you), "a2"))).toEqual([true, false]);
    expect(isYourOther(room(desk), "a")).toBe(false);
    expect(keyboardWords(room(phone))).toBe("You are a viewer; your other window types");
    const driving = { participants: [desk, bob, { ...phone, role: "driver" as const }] };
    expect(keyboardWords(room(phone, driving))).toBe("You have the keyboard in another window");
    expect(keyboardWords(room(bob, driving))).toBe("Ann has the keyboard");
    const request: ServerMessage = { type: "stdin_request", id: "a2" };
    expect(hear(room(desk, driving), request).words).toEqual(["Your other window asks for the keyboard"]);
    expect(hear(room(phone, driving), request).words).toEqual(["You have asked your other window for the keyboard"]);
    const given: ServerMessage = { type: "stdin_holder", id: "a2" };
    expect([desk, bob].map((you) => hear(room(you, driving), given).words)).toEqual([
      ...[["You have the keyboard in another window"], ["Ann has the keyboard"]],
    ]);
  });

  test("come and go without that the person does", () => {
    const third: Participant = { ...phone, id: "a3", name: "Ann (3)" };
    const messages: ServerMessage[] = [
      { type: "join", participant: third },
      { type: "leave", id: "a2" },
      { type: "leave", id: "a3" },
    ];
    expect(hear(room(bob), ...messages).words).toEqual([
      "Ann opened another window",
      ...Array(2).fill("Ann closed a window"),
    ]);
    expect(hear(room(desk), ...messages).words).toEqual([
      "You opened another window",
      ...Array(2).fill("You closed another window"),
    ]);
    const alone = room(bob, { participants: [desk, bob] });
    expect(hear(alone, { type: "leave", id: "a" }, { type: "join", participant: phone }).words).toEqual([
      ...["Ann left", "Ann joined as a viewer"],
    ]);
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
    // Also in every version: FNV-1a of the id, its halves folded.
    expect(["client-1", "client-2", ""].map((id) => colourIndex(id, 8))).toEqual([1, 0, 4]);
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
  [120, "2 min"],
  [119, "119 s"],
  [3, "3 s"],
])("X8: that the machine goes away in %i s is said as %s", (seconds, left) => {
  expect(stoppingWords(seconds)).toContain(`stops in ${left}:`);
});
