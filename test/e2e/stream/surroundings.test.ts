// What a process finds around it, and how long its children's output is awaited.
import { expect, test } from "vitest";
import { connect, type Params } from "../support/clients/client.ts";
import { fresh, person } from "../support/system/system.ts";

async function outputOf(params: Params): Promise<string> {
  const client = await connect(await person(), { session: fresh("s"), ...params });
  await client.end();
  return client.text();
}

test("D: USER and LOGNAME name the user; TERM and COLORTERM are set on a PTY, and not on pipes", async () => {
  const script = 'echo "$USER|$LOGNAME|$(id -un)|$(printenv TERM || echo none)|$(printenv COLORTERM || echo none)"';
  const [user = "", logname, id, ...onPipes] = (await outputOf({ cmd: "sh", arg: ["-c", script] })).trim().split("|");
  expect([logname, id]).toEqual([user, user]);
  expect(onPipes).toEqual(["none", "none"]);
  expect(await outputOf({ cmd: "sh", arg: ["-c", script], tty: 1 })).toContain("|xterm-256color|truecolor");
  const given = { cmd: "sh", arg: ["-c", script], env: ["TERM=vt100", "USER=zoe"] };
  expect(await outputOf(given)).toMatch(/^zoe\|.*\|vt100\|none\n$/);
});

test("X3: with linger, output of a child that outlives the process is awaited; without, for a second", async () => {
  const go = fresh("go");
  const script = `(until [ -e ${go} ]; do sleep 0.05; done; echo late) & echo early`;
  const who = await person();
  const params = (more: Params): Params => ({ session: fresh("s"), cmd: "sh", arg: ["-c", script], ...more });
  const brief = await connect(who, params({}));
  const patient = await connect(who, params({ linger: 60 }));
  await patient.output("early\n");
  expect((await brief.end()).exit).toEqual({ type: "exit", code: 0, offset: 6 });
  expect(patient.messages("exit")).toEqual([]);
  await (await connect(who, { session: fresh("s"), cmd: "touch", arg: [go] })).end();
  expect((await patient.end()).exit).toEqual({ type: "exit", code: 0, offset: 11 });
  expect(patient.text()).toBe("early\nlate\n");
});

test("A8a: hello tells the client that the process was started for, and it alone", async () => {
  const who = await person();
  const session = fresh("s");
  const first = await connect(who, { session, cmd: "cat" });
  const hello = await first.hello();
  expect(hello.creator).toBe(true);
  const second = await connect(who, { session });
  expect((await second.hello()).creator).toBeUndefined();
  first.drop();
  const back = await connect(who, { session, resume: String(hello.resume), offset: 0 });
  expect((await back.hello()).creator).toBe(true);
});
