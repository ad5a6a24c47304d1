// Coming back: what a client is sent again, what it is not, and who may come back at all. The system stays whole here.

import { describe, expect, test } from "vitest";
import { Random } from "../../../packages/local/src/base/random.ts";
import { connect, type Message, refusedHttp, refusedSocket, type TestClient } from "../support/clients/client.ts";
import { runResuming } from "../support/clients/resuming-client.ts";
import { api, fresh, type Person, person } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

const MIB = 1024 * 1024;
const sh = (script: string) => ({ cmd: "sh", arg: ["-c", script] });

const bye = (code: number, reason: string): { bye: Message; code: number; reason: string } => ({
  bye: { type: "bye", code, reason, retry: "never" },
  code,
  reason,
});

/** A client of a session that prints ten digits and then repeats what it is given; and what it needs to come back. */
async function started(extra: Record<string, string | number> = {}): Promise<{
  who: Person;
  session: string;
  client: TestClient;
  resume: string;
  id: string;
}> {
  const who = await person();
  const session = fresh("s");
  const client = await connect(who, { session, ...sh("printf 0123456789; cat"), ...extra });
  await client.output("0123456789");
  const hello = await client.hello();
  return { who, session, client, resume: String(hello.resume), id: (hello.you as { id: string }).id };
}

async function dropped(client: TestClient): Promise<void> {
  client.drop();
  await client.closed;
}

describe("output", () => {
  test("goes on at the offset that a resuming client names, in mid-frame, with what came meanwhile", async () => {
    const { who, session, client, resume, id } = await started();
    const other = await connect(who, { session });
    await dropped(client);
    await other.hello();
    other.type("abcdef");
    await other.output("abcdef");
    const back = await connect(who, { session, resume, offset: 4 });
    expect(await back.output("abcdef")).toBe("456789abcdef");
    const hello = await back.hello();
    expect([hello.offset, hello.live, hello.gap]).toEqual([4, 16, undefined]);
    expect((hello.you as { id: string }).id).toBe(id);
    expect((hello.participants as { id: string }[]).map((one) => one.id).filter((one) => one === id)).toHaveLength(1);
  });

  test("is all sent to a resuming client that names no offset: its screen is empty", async () => {
    const { who, session, client, resume, id } = await started();
    await dropped(client);
    const back = await connect(who, { session, resume });
    expect(await back.output("0123456789")).toBe("0123456789");
    const hello = await back.hello();
    expect([hello.offset, hello.live, (hello.you as { id: string }).id]).toEqual([0, 10, id]);
  });

  test("is not sent at all to one that has it, and the exit that it missed is", async () => {
    const { who, session, client, resume } = await started();
    await dropped(client);
    const other = await connect(who, { session });
    await other.hello();
    other.say({ type: "kill" });
    const { exit } = await other.end();
    expect(exit).toEqual({ type: "exit", code: 129, signal: "SIGHUP", offset: 10 });
    const back = await connect(who, { session, resume, offset: 10 });
    const end = await back.end();
    expect([end.exit, end.code, back.bytes().length]).toEqual([exit, 1000, 0]);
  });

  test("keeps its stream: stderr is stderr when it is sent again", async () => {
    const who = await person();
    const session = fresh("s");
    const first = await connect(who, { session, ...sh("printf out; sleep 0.05; printf err >&2; cat") });
    await first.output("outerr");
    const second = await connect(who, { session, resume: String((await first.hello()).resume), offset: 1 });
    await second.output("uterr");
    expect([second.text(1), second.text(2)]).toEqual(["ut", "err"]);
  });

  test("that is gone for good is told as a gap, never skipped silently", async () => {
    const who = await person();
    const session = fresh("s");
    // A live session runs on with nobody attached; this one prints more than the log holds.
    const script = "stty raw -echo; printf start; read go; seq 1000000 1400000; printf end; cat";
    const first = await connect(who, { session, ...sh(script), tty: 1 });
    await first.output("start");
    first.type("\n");
    await first.leave();
    const total = 5 + 400_001 * 8 + 3;
    const path = `/api/sandboxes/default/sessions/${session}`;
    await until("all of its output", async () => {
      const { offset } = (await (await api(who, path)).json()) as { offset: number };
      return offset === total;
    });
    // Whoever names no offset wants the screen, for which nothing is missing.
    const later = await connect(who, { session });
    expect(await later.hello()).toMatchObject({ offset: total, live: total });
    expect((await later.hello()).gap).toBeUndefined();
    // offset=0 asks for all that is held: what is not held is said.
    const second = await connect(who, { session, offset: 0 });
    await second.output(/end$/);
    const held = second.bytes().length;
    expect(await second.hello()).toMatchObject({ offset: total - held, gap: total - held });
    expect(held).toBeGreaterThan(MIB / 2);
    expect(held).toBeLessThanOrEqual(MIB);
  });
});

describe("input", () => {
  test("goes on where the process has taken it; what is sent again is dropped", async () => {
    const { who, session, client, resume } = await started();
    client.type("abc");
    await client.until("stdin_ack of 3", () => client.messages("stdin_ack").some(({ offset }) => offset === 3));
    await client.output("abc");
    await dropped(client);
    const back = await connect(who, { session, resume, offset: 13 });
    expect((await back.hello()).stdin).toBe(3);
    back.type("def");
    back.say({ type: "eof", offset: 6 });
    const { exit } = await back.end();
    expect([back.text(), exit]).toEqual(["def", { type: "exit", code: 0, offset: 16 }]);
  });

  test("that was still queued is kept, and its resending dropped as a duplicate", async () => {
    const who = await person();
    const session = fresh("s");
    const input = Buffer.from(new Random(7).bytes(200_000));
    // Reads nothing until it is told to.
    const script = 'trap go=1 USR1; echo ready; while [ -z "$go" ]; do sleep 0.02; done; exec cat';
    const first = await connect(who, { session, ...sh(script) });
    await first.output("ready\n");
    const send = (client: TestClient, from: number, to: number) => {
      for (let at = from; at < to; at += 50_000) client.type(input.subarray(at, Math.min(at + 50_000, to)));
    };
    send(first, 0, 150_000);
    const resume = String((await first.hello()).resume);
    // A pipe holds 64 KiB: the rest is queued here and there.
    await first.until("an ack in the second piece", () =>
      first.messages("stdin_ack").some(({ offset }) => Number(offset) > 50_000),
    );
    await dropped(first);
    const back = await connect(who, { session, resume });
    const taken = Number((await back.hello()).stdin);
    expect(taken).toBeGreaterThan(50_000);
    expect(taken).toBeLessThanOrEqual(65_536);
    // Frames that are cut elsewhere: one of them is half a duplicate.
    send(back, taken, input.length);
    back.say({ type: "eof", offset: input.length });
    back.say({ type: "signal", signal: "SIGUSR1" });
    await back.end();
    expect(back.bytes(1).equals(Buffer.concat([Buffer.from("ready\n"), input]))).toBe(true);
  });

  test("and output of 8 MiB arrive once and in order, however often the client's connection breaks", async () => {
    const input = Buffer.from(new Random(11).bytes(8 * MIB));
    let next = MIB / 2;
    const { output, exit, breaks } = await runResuming(
      await person(),
      { session: fresh("s"), cmd: "cat" },
      {
        input,
        progress: (received, _acked, client) => {
          if (received < next) return;
          next += MIB;
          client.drop();
        },
      },
    );
    expect(output.equals(input)).toBe(true);
    expect(exit).toEqual({ type: "exit", code: 0, offset: input.length });
    expect(breaks.length).toBeGreaterThanOrEqual(5);
  });
});

describe("two sockets with one resume", () => {
  test("the newer wins; the older is told 4409 never, and what it types counts for nothing", async () => {
    const { who, session, client, resume, id } = await started();
    const newer = await connect(who, { session, resume, offset: 10 });
    expect(((await newer.hello()).you as { id: string }).id).toBe(id);
    client.type("from the old one");
    const reason = "replaced by a newer connection";
    expect(await client.end()).toEqual({ exit: undefined, ...bye(4409, reason) });
    newer.type("from the new one");
    newer.say({ type: "eof" });
    await newer.end();
    expect(newer.text()).toBe("from the new one");
    // Nobody saw anybody come or go.
    expect([newer.messages("join"), newer.messages("leave")]).toEqual([[], []]);
  });
});

describe("a client whose greeting got lost", () => {
  const greeted = async (client: TestClient) => {
    const { you, participants } = await client.hello();
    return { id: (you as { id: string }).id, you, participants };
  };

  test("is the same one when it comes again: it is not there twice, and its end of input counts", async () => {
    const [who, session] = [await person(), fresh("s")];
    const attempt = (number: number) =>
      connect(who, { session, cmd: "cat", name: `connection ${number}`, attempt: `onelife.${number}` });
    const lost = await attempt(1);
    const { id, you } = await greeted(lost);
    const client = await attempt(2);
    // Nor under another name than the others know.
    expect(await greeted(client)).toEqual({ id, you, participants: [you] });
    expect(await lost.end()).toEqual({ exit: undefined, ...bye(4409, "replaced by a newer connection") });
    const late = await attempt(1);
    const reason = "held up on its way: this client has made a newer connection";
    expect(await late.end()).toEqual({ exit: undefined, ...bye(4409, reason) });
    client.type("abc");
    client.say({ type: "eof", offset: 3 });
    expect((await client.end()).exit).toMatchObject({ code: 0, offset: 3 });
    expect([client.text(), client.messages("join"), client.messages("error")]).toEqual(["abc", [], []]);
  });

  test.each([
    ["a viewer saw it go", true],
    ["nobody was there", false],
  ])("has its keyboard again when it comes again, though its place was given up and %s", async (_who, isSeen) => {
    const [who, session] = [await person(), fresh("s")];
    const attempt = (number: number) =>
      connect(who, { session, cmd: "cat", mode: "exclusive", attempt: `onelife.${number}` });
    const lost = await attempt(1);
    const { id } = await greeted(lost);
    const viewer = isSeen ? await connect(who, { session, role: "viewer" }) : undefined;
    await viewer?.hello();
    await dropped(lost);
    const countClients = async () => {
      const listed = await (await api(who, `/api/sandboxes/default/sessions/${session}`)).json();
      return (listed as { clients: number }).clients;
    };
    if (viewer === undefined) await until("an empty session", async () => (await countClients()) === 0);
    else await viewer.message("leave");
    const client = await attempt(2);
    expect([(await greeted(client)).id, (await client.hello()).holder]).toEqual([id, id]);
    client.type("abc");
    client.say({ type: "eof", offset: 3 });
    expect([(await client.end()).exit, client.text()]).toEqual([{ type: "exit", code: 0, offset: 3 }, "abc"]);
  });

  test("makes another connection where a copy of its handshake has come after it", async () => {
    const [who, session] = [await person(), fresh("s")];
    const attempt = () => connect(who, { session, cmd: "cat", attempt: "onelife.1" });
    const first = await attempt();
    await first.hello();
    const copy = await attempt();
    await copy.hello();
    const reason = "replaced by a copy of its own handshake";
    expect(await first.end()).toMatchObject({ bye: { type: "bye", code: 4409, reason, retry: "now" } });
  });

  test("is another one after it has left, and what it typed before is not taken for what it types now", async () => {
    const [who, session] = [await person(), fresh("s")];
    const attempt = (number: number) => connect(who, { session, cmd: "cat", attempt: `onelife.${number}` });
    const first = await attempt(1);
    const { id } = await greeted(first);
    first.type("0123456789");
    await first.output("0123456789");
    await first.leave();
    const client = await attempt(2);
    expect((await greeted(client)).id).not.toBe(id);
    client.type("abc");
    client.say({ type: "eof", offset: 3 });
    await client.end();
    expect(client.text()).toBe("0123456789abc");
  });

  test("may come again without a proof after it has typed, and is numbered from there", async () => {
    const [who, session] = [await person(), fresh("s")];
    const attempt = (number: number) => connect(who, { session, cmd: "cat", attempt: `onelife.${number}` });
    const first = await attempt(1);
    await first.hello();
    first.type("0123456789");
    await first.output("0123456789");
    const client = await attempt(2);
    expect((await client.hello()).stdin).toBe(10);
    client.type("abc");
    client.say({ type: "eof", offset: 13 });
    await client.end();
    expect(client.text()).toBe("0123456789abc");
  });

  test.each([
    ["in another life", { attempt: "another.2" }],
    ["in another role", { attempt: "onelife.2", role: "viewer" }],
  ])("is another one %s", async (_how, params) => {
    const [who, session] = [await person(), fresh("s")];
    const first = await connect(who, { session, cmd: "cat", attempt: "onelife.1" });
    const { id } = await greeted(first);
    await connect(who, { session, ...params });
    const { participant } = await first.message("join");
    expect((participant as { id: string }).id).not.toBe(id);
    expect(first.messages("bye")).toEqual([]);
  });
});

describe("a resume is refused", () => {
  test.each(["garbage", "a.b", "..", "é"])('as 4400 where it is "%s"', async (resume) => {
    const { who, session } = await started();
    const reason = '"resume" is not one that was given for this session';
    expect(await refusedSocket(who, { session, resume })).toEqual(bye(4400, reason));
    const { status, body } = await refusedHttp(who, { session, resume });
    expect([status, JSON.parse(body)]).toEqual([400, { error: "bad_request", message: reason }]);
  });

  test("as 4400 where one letter of it was changed", async () => {
    const { who, session, resume } = await started();
    const [claim = "", signature] = resume.split(".");
    const forged = Buffer.from(claim, "base64url").toString().replace("driver", "viewer");
    const changed = `${Buffer.from(forged).toString("base64url")}.${signature}`;
    expect(await refusedSocket(who, { session, role: "viewer", resume: changed })).toMatchObject({ code: 4400 });
  });

  test("as 4400 where it belongs to another session", async () => {
    const { who, resume } = await started();
    expect(await refusedSocket(who, { session: fresh("s"), cmd: "cat", resume })).toMatchObject({ code: 4400 });
  });

  test("as 4403 where it was given to somebody else of the same tenant", async () => {
    const { who, session, resume } = await started();
    const mallory = await person({ org: who.org });
    const reason = '"resume" was given to somebody else, or for another role';
    expect(await refusedSocket(mallory, { session, resume })).toEqual(bye(4403, reason));
    const { status, body } = await refusedHttp(mallory, { session, resume });
    expect([status, JSON.parse(body)]).toEqual([403, { error: "forbidden", message: reason }]);
  });

  test("as 4403 where it was given for another role", async () => {
    const { who, session, resume } = await started();
    expect(await refusedSocket(who, { session, resume, role: "viewer" })).toMatchObject({ code: 4403 });
  });

  test("as 4404 where its process is gone, and nothing is started for it", async () => {
    const { who, session, resume } = await started();
    await api(who, `/api/sandboxes/default/sessions/${session}`, { method: "DELETE" });
    expect(await refusedSocket(who, { session, resume, cmd: "cat" })).toEqual(bye(4404, "process lost"));
    expect((await api(who, `/api/sandboxes/default/sessions/${session}`)).status).toBe(404);
    const next = await connect(who, { session, cmd: "cat" });
    await next.hello();
    // Another start of a process of that name is not the one it was given for.
    expect(await refusedSocket(who, { session, resume })).toEqual(bye(4404, "process lost"));
  });

  test("as 4404 after its client has left with 1000", async () => {
    const { who, session, client, resume } = await started();
    const other = await connect(who, { session });
    await other.hello();
    await client.leave();
    const left = bye(4404, "this client has left: nothing to resume");
    expect(await refusedSocket(who, { session, resume })).toEqual(left);
    await other.leave();
    // Also when nobody was there meanwhile, so that the session had to be found again.
    expect(await refusedSocket(who, { session, resume })).toEqual(left);
  });

  test("as 4400 with an offset beyond the log", async () => {
    const { who, session, client, resume } = await started();
    await dropped(client);
    const reason = "offset 11 is beyond the log, which ends at 10";
    expect(await refusedSocket(who, { session, resume, offset: 11 })).toEqual(bye(4400, reason));
    const back = await connect(who, { session, resume, offset: 10 });
    expect((await back.hello()).offset).toBe(10);
  });

  test("and so is an offset without one, other than 0, as 4400", async () => {
    const { who, session } = await started();
    const reason = '"offset" other than 0 needs a "resume"';
    expect(await refusedSocket(who, { session, offset: 1 })).toEqual(bye(4400, reason));
    const reader = await connect(who, { session, offset: 0 });
    expect(await reader.output("0123456789")).toBe("0123456789");
  });

  test("where there is no token: it is no authentication", async () => {
    const { session, resume } = await started();
    expect(await refusedSocket(undefined, { session, resume })).toEqual(bye(4401, "Log in, or give a token"));
  });
});

test("a vanished client keeps its place: nobody is told that it left, and it comes back unannounced", async () => {
  const { who, session, client, resume } = await started({ mode: "exclusive" });
  client.type("x");
  expect(await client.message("stdin_ack")).toEqual({ type: "stdin_ack", offset: 1 });
  await client.output("x");
  const other = await connect(who, { session });
  await other.hello();
  await dropped(client);
  const back = await connect(who, { session, resume, offset: 11 });
  const hello = await back.hello();
  expect(hello.holder).toBe((hello.you as { id: string }).id);
  back.type("y");
  await other.output("y");
  expect([other.messages("leave"), other.messages("join"), other.messages("stdin_holder")]).toEqual([[], [], []]);
});
