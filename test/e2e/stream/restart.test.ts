// Parts of the system break while clients are attached: the inner hop, the Worker with its Durable Objects, the bridge.

import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { Random } from "../../../packages/local/src/base/random.ts";
import { attached, connect, type Message, refusedSocket } from "../support/clients/client.ts";
import { exitedSession, expectReadable } from "../support/clients/exited-session.ts";
import { type ResumedRun, runResuming } from "../support/clients/resuming-client.ts";
import {
  cutInnerHop,
  fresh,
  killBridge,
  type Person,
  person,
  releaseInnerHop,
  restartWorker,
  startBridge,
} from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

const MIB = 1024 * 1024;
const sh = (script: string) => ({ cmd: "sh", arg: ["-c", script] });

afterEach(releaseInnerHop);

/** Sends `input` through `cat` and breaks something when half a MiB has come back, and after each `every` bytes more. */
async function throughCat(
  input: Buffer,
  every: number,
  times: number,
  disturb: () => Promise<unknown>,
): Promise<ResumedRun> {
  let next = MIB / 2;
  let left = times;
  let disturbing: Promise<unknown> = Promise.resolve();
  const run = await runResuming(
    await person(),
    { session: fresh("s"), cmd: "cat" },
    {
      input,
      progress: (received) => {
        if (received < next || left === 0) return;
        next = received + every;
        left -= 1;
        disturbing = disturbing.then(disturb);
      },
    },
  );
  await disturbing;
  expect(left).toBe(0);
  return run;
}

describe("the inner hop is cut", () => {
  test("five times in the middle of 3.5 MiB each way: the client's connection stays, every byte comes once", async () => {
    const input = Buffer.from(new Random(21).bytes(3.5 * MIB));
    const { output, exit, breaks } = await throughCat(input, MIB / 2, 5, cutInnerHop);
    expect(breaks).toEqual([]);
    expect(output.equals(input)).toBe(true);
    expect(exit).toEqual({ type: "exit", code: 0, offset: input.length });
  });

  test("the client is told that it is lost, and when it is back", async () => {
    const client = await connect(await person(), { cmd: "cat" });
    await client.hello();
    // Of a container that is started for it there is one before.
    const before = client.messages("status").length;
    await cutInnerHop();
    expect(await client.message("status", before)).toEqual({ type: "status", status: "lost" });
    expect(await client.message("status", before + 1)).toEqual({ type: "status", status: "running" });
    client.type("abc");
    expect(await client.output("abc")).toBe("abc");
  });
});

describe("the Worker is killed and started again", () => {
  test("in the middle of 3 MiB each way: the client resumes, every byte comes once", async () => {
    const input = Buffer.from(new Random(22).bytes(3 * MIB));
    const { output, exit, breaks } = await throughCat(input, 0, 1, restartWorker);
    // One, or more where the new Worker closes once again while it comes up: what counts is that no byte does.
    expect(breaks.length).toBeGreaterThanOrEqual(1);
    expect(breaks[0]).toBeGreaterThanOrEqual(MIB / 2);
    expect(breaks[0]).toBeLessThan(input.length);
    expect(output.equals(input)).toBe(true);
    expect(exit).toEqual({ type: "exit", code: 0, offset: input.length });
  });
});

describe("after the Worker was killed and started again", () => {
  /** One restart for all of them: what was attached before, and what is needed to come back. */
  interface Before {
    readonly who: Person;
    readonly session: string;
    readonly hello: Message;
  }
  let held: Before;
  let told: Before;
  let exited: { readonly who: Person; readonly session: string };

  async function holdKeyboard(): Promise<Before> {
    const who = await person();
    const session = fresh("s");
    const params = { session, tty: 1, mode: "exclusive" };
    const client = await connect(who, { ...params, ...sh("stty -echo; echo one; read go; echo two; cat") });
    await client.output("one\r\n");
    client.type("\n");
    await client.until("its ack", () => client.messages("stdin_ack").length > 0);
    return { who, session, hello: await client.hello() };
  }

  /** One client vanishes before the exit that another is told. */
  async function missExit(): Promise<Before> {
    const who = await person();
    const session = fresh("s");
    const client = await connect(who, { session, ...sh("printf 0123456789; read go; printf abc; exit 3") });
    await client.output("0123456789");
    const other = await connect(who, { session });
    await other.hello();
    client.type("\n");
    await client.until("its ack", () => client.messages("stdin_ack").length > 0);
    client.drop();
    await other.end();
    return { who, session, hello: await client.hello() };
  }

  async function exit(): Promise<typeof exited> {
    const who = await person();
    return { who, session: await exitedSession(who) };
  }

  beforeAll(async () => {
    [held, told, exited] = await Promise.all([holdKeyboard(), missExit(), exit()]);
    await restartWorker();
  });

  test("what the process printed meanwhile is there, and who held the keyboard holds it", async () => {
    const { who, session, hello: before } = held;
    const back = await connect(who, { session, resume: String(before.resume), offset: 5 });
    await back.output("two\r\n");
    const hello = await back.hello();
    expect([hello.offset, hello.stdin, hello.incarnation, hello.you]).toEqual([5, 1, before.incarnation, before.you]);
    expect(hello.holder).toBe((before.you as { id: string }).id);
    back.type("three\n");
    expect(await back.output("three\r\n")).toBe("two\r\nthree\r\n");
  });

  test("an exit that others were told can be resumed to: the rest of the output, and the exit", async () => {
    const { who, session, hello: before } = told;
    const back = await connect(who, { session, resume: String(before.resume), offset: 10, stdin: 1 });
    const end = await back.end();
    expect([end.bye, back.text(), end.exit]).toEqual([undefined, "abc", { type: "exit", code: 3, offset: 13 }]);
    expect((await back.hello()).stdin).toBe(1);
  });

  test("an exited session's log and exit can be read, by both kinds of client", async () => {
    await expectReadable(exited.who, exited.session);
  });
});

describe("the bridge is killed", () => {
  test("the clients are told that the process is lost, and only ended=replace takes its name", async () => {
    const who = await person();
    const session = fresh("s");
    const client = await connect(who, { session, cmd: "cat" });
    const { incarnation, resume } = await client.hello();
    const plain = await connect(who, { session }, { protocols: [] });
    await plain.hello();
    plain.say({ type: "resize", cols: 80, rows: 24 }); // One that has said nothing at all hears no close.
    await killBridge();
    await client.until("status lost", () => client.messages("status").some(({ status }) => status === "lost"));
    await startBridge();
    const lost = { type: "bye", code: 4404, reason: "process lost", retry: "never" };
    expect(await client.end()).toEqual({ exit: undefined, bye: lost, code: 4404, reason: "process lost" });
    expect((await plain.end()).code).toBe(4404);
    expect(await refusedSocket(who, { session, resume: String(resume) })).toMatchObject({ bye: lost });
    const next = await attached(who, {
      session,
      cmd: "cat",
      ended: "replace",
      attempt: `${fresh("life").replace("-", "")}.0`,
    });
    expect((await next.hello()).incarnation).not.toBe(incarnation);
  });

  test("and not there: an attach is told 4503 and when to come back; one that waits gets in", async () => {
    const who = await person();
    await killBridge();
    try {
      const { bye, code } = await refusedSocket(who, { session: fresh("s"), cmd: "cat" });
      expect([bye?.code, bye?.retry, typeof bye?.seconds, code]).toEqual([4503, "after", "number", 4503]);
    } finally {
      await startBridge();
    }
    const client = await until("an attach", async () => {
      const one = await connect(who, { cmd: "cat" });
      return one.hello().then(
        () => one,
        () => undefined,
      );
    });
    client.type("abc");
    expect(await client.output("abc")).toBe("abc");
  });
});
