// Input that is on record before it is acknowledged: the process does not wait for that, its client's acknowledgement does.

import { describe, expect, test } from "vitest";
import { type ClientRecord, InputPositions, type InputRecorder, OutputLog } from "../../src/index.ts";
import { bytes, confirmAll, type FakePeer, join, pass, relayRig, text } from "../support/fixtures.ts";

/** A record that is stored when the test says so. */
class HeldRecorder implements InputRecorder {
  readonly positions: InputPositions;
  readonly given: [number, string, string][] = [];
  readonly secret = new Set<string>();
  /** Whether secret input is kept like all other. */
  keepsAll = false;

  constructor(stored: Iterable<readonly [string, number]> = []) {
    this.positions = new InputPositions(stored);
  }

  input({ id }: ClientRecord, received: number, offset: number, piece: Uint8Array, fate: string): void {
    const known = this.positions.known(id, received, offset, piece.length);
    if (known < piece.length) this.given.push([offset + known, text(piece.subarray(known)), fate]);
  }
  paneInput(_client: ClientRecord, pane: string, piece: Uint8Array, fate: string): void {
    this.given.push([-1, `${pane}: ${text(piece)}`, fate]);
  }
  storedUpTo(id: string): number {
    return this.positions.storedUpTo(id);
  }
  setSecret(id: string, on: boolean): boolean {
    this.given.push([0, id, on ? "secret" : "not secret"]);
    if (on && this.keepsAll) return false;
    if (on) this.secret.add(id);
    else this.secret.delete(id);
    return true;
  }
  isSecret(id: string): boolean {
    return this.secret.has(id);
  }
  isBehind(id: string): boolean {
    return this.positions.isBehind(id);
  }
}

function recorded(recorder = new HeldRecorder()) {
  const at = { ...relayRig({}, { recorder, log: new OutputLog({ cols: 80, rows: 24 }) }), recorder };
  const store = (id: string, offset: number) => {
    recorder.positions.noteStored(id, offset);
    at.session.recorded(id);
  };
  const acks = (peer: FakePeer) => peer.of("stdin_ack").map(({ offset }) => offset);
  return { ...at, store, acks };
}

describe("where a record is kept", () => {
  test("I10: the process gets input at once; it is acknowledged when it is taken and stored, whichever is last", () => {
    const at = recorded();
    const { session, store, acks } = at;
    const { client, peer } = join(session, "a");
    session.stdin(client, bytes("abc"), 0);
    expect(confirmAll(session, client)).toBe("abc");
    pass(at, 1_000);
    expect(acks(peer)).toEqual([]);
    store("a", 2);
    store("a", 3);
    session.stdin(client, bytes("def"), 3);
    store("a", 6);
    expect(acks(peer)).toEqual([2, 3]);
    confirmAll(session, client);
    pass(at, 1_000);
    expect(acks(peer)).toEqual([2, 3, 6]);
  });

  test("what is typed is on its way before the record has to do with it, and is told apart from what came before", () => {
    const recorder = new HeldRecorder([["a", 2]]);
    const { session, upstream } = recorded(recorder);
    const { client } = join(session, "a");
    const passedOn: number[] = [];
    const given = recorder.input.bind(recorder);
    recorder.input = (...piece) => {
      passedOn.push(upstream.of("input").length);
      given(...piece);
    };
    // Stored by an earlier life, and never received by this one: nothing says that it is the same again.
    session.stdin(client, bytes("abc"), 0);
    session.stdin(client, bytes("d"), 3);
    expect(passedOn).toEqual([1, 2]);
    expect(recorder.given.map(String)).toEqual(["0,abc,typed", "3,d,typed"]);
  });

  test("I10: a client that comes back goes on where its input is stored; the process gets nothing of that twice", () => {
    const { session, recorder, store } = recorded();
    const { client } = join(session, "a");
    session.stdin(client, bytes("abcdef"), 0);
    store("a", 4);
    confirmAll(session, client);
    const { peer, client: back } = join(session, "a", { isResume: true, offset: 0 });
    expect(peer.hello.stdin).toBe(4);
    session.stdin(back, bytes("efgh"), 4);
    expect(confirmAll(session, back)).toBe("gh");
    expect(recorder.given.map(String)).toEqual(["0,abcdef,typed", "6,gh,typed"]);
  });

  test("I10: after a death, what was passed on and not stored is recorded when it is sent again, and dropped", () => {
    const recorder = new HeldRecorder([["a", 2]]);
    const { session, store, acks } = recorded(recorder);
    session.restore({ id: "a", role: "driver", stdin: 5, received: 5, acked: 0, isAbsent: false });
    const { peer, client } = join(session, "a", { isResume: true, offset: 0 });
    expect(peer.hello.stdin).toBe(2);
    session.stdin(client, bytes("cde"), 2);
    expect([confirmAll(session, client), recorder.given]).toEqual(["", [[2, "cde", "resent"]]]);
    store("a", 5);
    expect(acks(peer)).toEqual([5]);
  });

  test("what was stored but never received is on record again when it comes: it may be something else", () => {
    const recorder = new HeldRecorder([["a", 5]]);
    const { session } = recorded(recorder);
    session.restore({ id: "a", role: "driver", stdin: 2, received: 2, acked: 0, isAbsent: false });
    const { client } = join(session, "a", { isResume: true, offset: 0 });
    session.stdin(client, bytes("xyz"), 2);
    expect([confirmAll(session, client), recorder.given]).toEqual(["xyz", [[2, "xyz", "typed"]]]);
  });

  test("I10: what the bridge has typed of a program just now is on record, though the hop has told of it before", () => {
    const { session, recorder } = recorded(new HeldRecorder([["p", 3]]));
    session.restore({ id: "p", kind: "program", role: "driver", stdin: 0, received: 3, acked: 0, isAbsent: false });
    const program = session.client("p");
    if (program === undefined) throw new Error("nobody knows the program");
    session.programs.recordWrite(program, 0, bytes("abc"), "resent");
    expect(recorder.given).toEqual([]);
    session.programs.recordWrite(program, 0, bytes("abc"), "typed");
    expect(recorder.given).toEqual([[0, "abc", "typed"]]);
  });

  test("what is stored of a client that nobody knows any more concerns nobody", () => {
    const { store } = recorded();
    expect(() => store("stranger", 3)).not.toThrow();
  });

  test("empty input is on no record", () => {
    const { session, recorder } = recorded();
    let records = 0;
    recorder.input = () => {
      records += 1;
    };
    for (const role of ["driver", "viewer"] as const) {
      const { client } = join(session, role, { role });
      session.stdin(client, new Uint8Array(0), 0);
    }
    expect(records).toBe(0);
  });

  test("I10: input that is refused is on record as such", () => {
    const { session, recorder } = recorded();
    const { client } = join(session, "v", { role: "viewer" });
    session.stdin(client, bytes("no"), 0);
    expect(recorder.given).toEqual([[0, "no", "refused"]]);
  });

  test("I10: an exit comes after the acknowledgement of what was on its way into the record", () => {
    const { session, store, acks } = recorded();
    const { client, peer } = join(session, "a");
    session.stdin(client, bytes("abc"), 0);
    confirmAll(session, client);
    session.exited({ code: 0 });
    expect(peer.end).toBeUndefined();
    store("a", 3);
    expect([acks(peer), peer.end]).toEqual([[3], "finished"]);
  });

  test("I11: that a client's input is secret is passed on to the record", () => {
    const { session, recorder } = recorded();
    const { client } = join(session, "a");
    session.command(client, { type: "secret", on: true });
    expect(recorder.given).toEqual([[0, "a", "secret"]]);
  });

  test("I11: a viewer, which has no input to keep secret, puts nothing on record by saying so", () => {
    const { session, recorder } = recorded();
    const { client, peer } = join(session, "a", { role: "viewer" });
    for (let i = 0; i < 5; i += 1) session.command(client, { type: "secret", on: i % 2 === 0 });
    expect(recorder.given).toEqual([]);
    expect(peer.of("error").map(({ code }) => code)).toEqual(Array(5).fill("not_allowed"));
  });

  test("I11: a client that comes back is told that its input is secret", () => {
    const { session } = recorded();
    const { client, peer } = join(session, "a");
    session.command(client, { type: "secret", on: true });
    const again = join(session, "a", { isResume: true });
    session.command(again.client, { type: "secret", on: false });
    const open = join(session, "a", { isResume: true });
    const told = [peer, again.peer, open.peer].map((one) => one.of("hello", "secret").map(({ type }) => type));
    expect(told).toEqual([["hello"], ["hello", "secret"], ["hello"]]);
    expect(again.peer.of("secret")).toEqual([{ type: "secret", on: true }]);
  });

  test("I11: a client is told where its secret input is kept like all other", () => {
    const { session, recorder } = recorded();
    recorder.keepsAll = true;
    const { client, peer } = join(session, "a");
    session.command(client, { type: "secret", on: true });
    const message = "secret input is switched off here: it is recorded like all other";
    expect(peer.of("error")).toEqual([{ type: "error", code: "not_allowed", message }]);
    expect(peer.of("secret")).toEqual([{ type: "secret", on: false }]);
  });

  test("a client without acknowledgements waits for no record", () => {
    const { session } = recorded();
    const { client, peer } = join(session, "p", { acknowledges: false });
    session.stdin(client, bytes("abc"));
    confirmAll(session, client);
    session.exited({ code: 0 });
    expect(peer.end).toBe("finished");
  });
});
