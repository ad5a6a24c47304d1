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
});

describe("input", () => {
  test("and output of 3 MiB arrive once and in order, however often the client's connection breaks", async () => {
    const input = Buffer.from(new Random(11).bytes(3 * MIB));
    let next = MIB / 2;
    const { output, exit, breaks } = await runResuming(
      await person(),
      { session: fresh("s"), cmd: "cat" },
      {
        input,
        progress: (received, _acked, client) => {
          if (received < next) return;
          next += MIB / 2;
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
    const reason = "delayed: this client has made a newer connection";
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
});

describe("a resume is refused", () => {
  test.each(["garbage"])('as 4400 where it is "%s"', async (resume) => {
    const { who, session } = await started();
    const reason = '"resume" is not one that was given for this session';
    expect(await refusedSocket(who, { session, resume })).toEqual(bye(4400, reason));
    const { status, body } = await refusedHttp(who, { session, resume });
    expect([status, JSON.parse(body)]).toEqual([400, { error: "bad_request", message: reason }]);
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

  test("as 4400 with an offset beyond the log", async () => {
    const { who, session, client, resume } = await started();
    await dropped(client);
    const reason = "offset 11 is beyond the log, which ends at 10";
    expect(await refusedSocket(who, { session, resume, offset: 11 })).toEqual(bye(4400, reason));
    const back = await connect(who, { session, resume, offset: 10 });
    expect((await back.hello()).offset).toBe(10);
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
