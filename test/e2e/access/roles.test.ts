// Several clients on one session: who may type, and how the keyboard changes hands.
import { describe, expect, test } from "vitest";
import { connect, type TestClient } from "../support/clients/client.ts";
import { fresh, type Person, person } from "../support/system/system.ts";

const NOT_HOLDER = { type: "error", code: "not_stdin_holder", message: "not stdin holder" };

async function idOf(client: TestClient): Promise<string> {
  return ((await client.hello()).you as { id: string }).id;
}

/** The holder that was announced last. */
function holderSaid(client: TestClient): unknown {
  return client.messages("stdin_holder").at(-1)?.id;
}

async function untilHolder(client: TestClient, id: string): Promise<void> {
  await client.until(`stdin_holder ${id}`, () => holderSaid(client) === id);
}

/** What a client types is refused, and counts as taken. */
async function expectRefused(client: TestClient, act: () => void): Promise<void> {
  const before = client.messages("error").length;
  act();
  expect(await client.message("error", before)).toEqual(NOT_HOLDER);
}

describe("a viewer", () => {
  test("sees the output, and can't type, resize, signal, end the input or kill", async () => {
    const alice = await person();
    const script = "trap 'stty size' WINCH; stty -echo; stty size; while read -r line; do echo \"got $line\"; done";
    const params = { session: fresh("s"), cmd: "bash", arg: ["-c", script], tty: 1 };
    const driver = await connect(alice, params);
    await driver.output("24 80\r\n");
    const viewer = await connect(alice, { session: params.session, role: "viewer", cols: 40, rows: 10 });
    expect((await viewer.hello()).you).toMatchObject({ role: "viewer" });
    await viewer.output("24 80\r\n");

    await expectRefused(viewer, () => viewer.type("rm -rf /\n"));
    expect(await viewer.message("stdin_ack")).toEqual({ type: "stdin_ack", offset: 9 });
    await expectRefused(viewer, () => viewer.say({ type: "signal", signal: "SIGKILL" }));
    await expectRefused(viewer, () => viewer.say({ type: "eof" }));
    await expectRefused(viewer, () => viewer.say({ type: "kill" }));
    viewer.say({ type: "resize", cols: 50, rows: 12 });
    viewer.say({ type: "ping" });
    await viewer.message("pong", 1);

    driver.type("word\n");
    await driver.output("got word\r\n");
    await viewer.output("got word\r\n");
    expect(driver.text()).toBe("24 80\r\ngot word\r\n");
    expect(viewer.text()).toBe(driver.text());
    expect([driver.messages("resize"), viewer.messages("resize")]).toEqual([[], []]);
  });
});

describe("collaborative", () => {
  test("both drivers type, and both see all of it", async () => {
    const alice = await person();
    const bob = await person({ org: alice.org, name: "Bob" });
    const session = fresh("s");
    const one = await connect(alice, { session, cmd: "cat" });
    await one.hello();
    const two = await connect(bob, { session });
    const participant = { id: await idOf(two), name: "Bob", role: "driver", kind: "person", person: "Bob" };
    expect(await one.message("join")).toEqual({ type: "join", participant });
    one.type("from one\n");
    await two.output("from one\n");
    two.type("from two\n");
    expect(await one.output("from two\n")).toBe("from one\nfrom two\n");
    await two.leave();
    expect(await one.message("leave")).toEqual({ type: "leave", id: participant.id });
    expect(one.messages("stdin_holder")).toEqual([]);
  });

  test("the PTY is as large as the smallest window, and grows when that one leaves", async () => {
    const alice = await person();
    const session = fresh("s");
    const one = await connect(alice, { session, cmd: "cat", tty: 1, cols: 120, rows: 30 });
    await one.hello();
    const two = await connect(alice, { session, cols: 100, rows: 50 });
    expect(await one.message("resize")).toEqual({ type: "resize", cols: 100, rows: 30, offset: 0 });
    await two.leave();
    expect(await one.message("resize", 1)).toEqual({ type: "resize", cols: 120, rows: 30, offset: 0 });
  });
});

describe("exclusive", () => {
  interface Trio {
    readonly owner: Person;
    readonly params: { readonly session: string };
    readonly holder: TestClient;
    readonly other: TestClient;
    readonly holderId: string;
    readonly otherId: string;
  }

  async function twoDrivers(otherScope = "sandbox:connect sandbox:exec"): Promise<Trio> {
    const owner = await person();
    const params = { session: fresh("s") };
    const holder = await connect(owner, { ...params, cmd: "cat", tty: 1, mode: "exclusive", cols: 90, rows: 20 });
    const holderId = await idOf(holder);
    const other = await connect(await person({ org: owner.org, scope: otherScope }), { ...params, cols: 50, rows: 10 });
    return { owner, params, holder, other, holderId, otherId: await idOf(other) };
  }

  test("the first driver holds the keyboard; another can't type, resize, signal or kill", async () => {
    const { holder, other, holderId } = await twoDrivers();
    const [first, second] = [await holder.hello(), await other.hello()];
    expect([first.mode, first.holder, second.mode, second.holder]).toEqual([
      "exclusive",
      holderId,
      "exclusive",
      holderId,
    ]);
    expect(second.answerer).toEqual({ id: holderId, offset: 0 });
    await expectRefused(other, () => other.type("mine\n"));
    await expectRefused(other, () => other.say({ type: "signal", signal: "SIGINT" }));
    await expectRefused(other, () => other.say({ type: "kill" }));
    other.say({ type: "resize", cols: 40, rows: 10 });
    holder.type("held\n");
    expect(await other.output("held\r\nheld\r\n")).toBe("held\r\nheld\r\n");
    expect([holder.messages("resize"), other.messages("resize")]).toEqual([[], []]);
  });

  test("a wish is told to the holder, who grants it; then the size is the new holder's", async () => {
    const { holder, other, holderId, otherId } = await twoDrivers();
    other.say({ type: "request_stdin" });
    expect(await holder.message("stdin_request")).toEqual({ type: "stdin_request", id: otherId });
    holder.say({ type: "grant_stdin", to: otherId });
    await Promise.all([untilHolder(holder, otherId), untilHolder(other, otherId)]);
    expect(await holder.message("resize")).toEqual({ type: "resize", cols: 50, rows: 10, offset: 0 });
    expect(await holder.message("answerer")).toEqual({ type: "answerer", id: otherId, offset: 0 });
    other.type("mine\n");
    await holder.output("mine\r\nmine\r\n");
    await expectRefused(holder, () => holder.type("no more\n"));
    holder.say({ type: "grant_stdin", to: holderId });
    expect(await holder.message("error", 1)).toEqual(NOT_HOLDER);
  });

  test("force_take with sandbox:admin takes the keyboard", async () => {
    const { other, holder, otherId } = await twoDrivers("sandbox:admin");
    other.say({ type: "force_take" });
    await Promise.all([untilHolder(holder, otherId), untilHolder(other, otherId)]);
    await expectRefused(holder, () => holder.type("mine\n"));
    other.type("taken\n");
    await holder.output("taken\r\ntaken\r\n");
  });
});
