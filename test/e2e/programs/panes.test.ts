// A session with panes over the whole system: drawn for ordinary clients, told to those who draw panes, and the same as tmux
// itself says, whatever breaks in between. `PANES_STEPS=500` takes more steps, `PANES_SEED=S` others.
import { expect, test } from "vitest";
import { Random } from "../../../packages/local/src/base/random.ts";
import { auditOf, said } from "../support/clients/audit.ts";
import { exitCode, startCli } from "../support/clients/cli.ts";
import { connect, refusedHttp, refusedSocket, type TestClient } from "../support/clients/client.ts";
import { PaneClient, TmuxOfSession } from "../support/clients/pane-client.ts";
import { TtydClient } from "../support/clients/ttyd-client.ts";
import { api, cutInnerHop, fresh, person, restartWorker, system } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

const STEPS = Number(process.env.PANES_STEPS ?? 20);
const SEED = Number(process.env.PANES_SEED ?? 1);
const MS_PER_STEP = 2_000;
const exited = (client: TestClient) => client.message("exit");

test("B2, B4, B8, B9: split, resized, typed into by place, name and id, closed from either side, and on record", async () => {
  const who = await person();
  const session = fresh("s");
  const main = await PaneClient.attach(who, { session, panes: 1, cmd: "sh", cols: 121, rows: 30 });
  await main.until("one pane", () => main.panes.length === 1);
  main.client.say({ type: "pane", action: "split", pane: "%0" });
  await main.until("two panes", () => main.panes.length === 2);
  expect(main.panes.map(({ id, name, cols, left }) => [id, name, cols, left])).toEqual([
    ["%0", "left", 60, 0],
    ["%1", "right", 60, 61],
  ]);
  main.client.say({ type: "resize", pane: "left", cols: 40, rows: 30 });
  await main.until("the new size", () => main.panes[0]?.cols === 40);

  const left = await connect(who, { session: fresh("s"), pane: `${session}:0` });
  const right = await connect(who, { session: fresh("s"), pane: `${session}:1` });
  for (const client of [left, right]) await client.hello();
  main.client.say({ type: "pane", action: "name", pane: "right", name: "logs" });
  await main.until("the name", () => main.panes[1]?.name === "logs");
  main.client.say({ type: "stdin", pane: "left", data: "echo l-$((40+2))\r" });
  main.client.say({ type: "stdin", pane: "logs", data: "echo n-$((40+3))\r" });
  main.client.say({ type: "stdin", pane: "%1", data: "echo i-$((40+4))\r" });
  await left.output("l-42");
  await right.output(/n-43[\s\S]*i-44/);
  expect(left.text()).not.toMatch(/n-43|i-44/);
  // A connection to a pane has its own counted input, and its own acknowledgements.
  right.type("echo own-$((40+5))\r");
  await right.output("own-45");
  await right.until("its ack", () => right.messages("stdin_ack").some(({ offset }) => offset === 19));

  const tmux = await TmuxOfSession.of(main);
  tmux.run("split-window", "-v", "-t", "%0");
  await main.until("the pane that somebody else has made", () => main.panes.some(({ id }) => id === "%2"));
  tmux.run("kill-pane", "-t", "%1");
  expect((await exited(right)).code).toBe(0);
  await main.until("its end", () => !main.panes.some(({ id }) => id === "%1"));
  main.client.say({ type: "pane", action: "close", pane: "bottom" });
  await main.until("one pane", () => main.panes.length === 1);
  expect(main.told()).toEqual(tmux.list());
  main.client.say({ type: "stdin", pane: "logs", data: "x" });
  await main.client.until("an error", () => main.client.messages("error").find(({ code }) => code === "no_such_pane"));
  left.type("exit\r");
  expect((await exited(left)).code).toBe(0);
  expect((await exited(main.client)).code).toBe(0);

  const records = (await auditOf(who, session)).map(said);
  const typed = records.filter(({ type, pane }) => type === "input" && pane !== undefined);
  expect(typed.map(({ pane, offset, text }) => [pane, offset, text])).toEqual(
    expect.arrayContaining([
      ["left", 0, "echo l-$((40+2))\r"],
      ["logs", 0, "echo n-$((40+3))\r"],
      ["%1", 0, "echo i-$((40+4))\r"],
      ["logs", 0, "x"],
    ]),
  );
  expect(records.filter(({ type }) => type === "pane").map(({ action, pane }) => [action, pane])).toEqual([
    ["split", "%0"],
    ["resize", "left"],
    ["name", "right"],
    ["close", "bottom"],
  ]);
});

test("B2: a plain client, ttyd and the command line get what tmux attach draws, and no word of control mode", async () => {
  const who = await person();
  const sandbox = fresh("box");
  // As terminals ask for it.
  const plain = await connect(who, { sandbox, session: "main", cmd: "tmux", arg: "-CC" }, { protocols: [] });
  await plain.output(/\[main\]/);
  const address = `${system.origin.replace(/^http/, "ws")}/terminal/${sandbox}`;
  const ttyd = await TtydClient.connect(address, { headers: { Authorization: `Bearer ${who.token}` } });
  plain.type("echo plain-$((40+2))\r");
  await plain.output("plain-42");
  ttyd.type("echo ttyd-$((40+3))\r");
  await ttyd.shows("ttyd-43");
  await plain.output("ttyd-43");
  const cli = startCli(who, ["--sandbox", sandbox, "--session", "main"]);
  const chunks: Buffer[] = [];
  cli.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  const ended = exitCode(cli);
  cli.stdin.write("echo cli-$((40+4))\r");
  await plain.output("cli-44");
  await until("the command line to see it", () => Buffer.concat(chunks).includes("cli-44"));
  cli.stdin.end("exit\r");
  expect(await ended).toBe(0);
  const seen = [plain.text(), ttyd.output().toString(), Buffer.concat(chunks).toString()];
  for (const text of seen) {
    expect(text).toContain("\x1b[");
    expect(text).not.toMatch(/%output|%begin|%layout-change|%session-changed|P1000p/);
  }
  await plain.message("exit");
});

test("B9, B11: a viewer, a guest and a client without the keyboard do nothing with panes; what is not there is refused", async () => {
  const who = await person();
  const session = fresh("s");
  const main = await PaneClient.attach(who, { session, panes: 1, cmd: "cat", mode: "exclusive" });
  await main.until("one pane", () => main.panes.length === 1);
  const share = await api(who, `/api/sandboxes/default/sessions/${session}/share`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ role: "driver", guests: true }),
  });
  const { ticket } = (await share.json()) as { ticket: string };
  const others = [
    await connect(who, { session, role: "viewer" }),
    await connect(who, { session }),
    await connect(undefined, { ticket, session }),
  ];
  for (const other of others) {
    await other.message("panes");
    other.say({ type: "stdin", pane: "%0", data: "typed by nobody\r" });
    other.say({ type: "pane", action: "close", pane: "%0" });
    other.say({ type: "resize", pane: "%0", cols: 20, rows: 5 });
    await other.until("three refusals", () => other.messages("error").length === 3);
    expect(other.messages("error").map(({ code }) => code)).toEqual(Array(3).fill("not_stdin_holder"));
  }
  // A link opens its session and no pane of it under another name.
  const elsewhere = { session: fresh("s"), pane: `${session}:0`, ticket };
  expect((await refusedSocket(undefined, elsewhere)).code).toBe(4403);
  const nowhere = await refusedHttp(who, { session: fresh("s"), pane: `${session}:7` });
  expect([nowhere.status, JSON.parse(nowhere.body)]).toEqual([
    422,
    { error: "no_such_pane", message: `no_such_pane: session "${session}" has no pane %7` },
  ]);
  expect((await refusedHttp(who, { session: fresh("s"), pane: `${session}-other:0` })).status).toBe(422);
  expect((await refusedHttp(await person(), { session: fresh("s"), pane: `${session}:0` })).status).toBe(422);
  const plain = await connect(who, { session: fresh("s"), cmd: "cat" });
  await plain.hello();
  plain.say({ type: "stdin", pane: "%0", data: "x" });
  expect(await plain.message("error")).toMatchObject({ code: "no_such_pane" });
  const pane = await connect(who, { session: fresh("s"), pane: `${session}:0` });
  await pane.hello();
  pane.type("end\r");
  await pane.output(/end\r?\n[\s\S]*end/);
  expect(pane.text()).not.toContain("typed by nobody");
});

test(`B4: ${STEPS} steps of splitting, resizing, closing and reconnecting: what a client knows is what list-panes says`, {
  timeout: 300_000 + STEPS * MS_PER_STEP,
}, async () => {
  const random = new Random(SEED, "steps");
  // Of its own: what is lost in a cut changes what can be done next, not when the next cut comes.
  const cutting = new Random(SEED, "cuts");
  const who = await person();
  const main = await PaneClient.attach(who, { session: fresh("s"), panes: 1, cmd: "sh", cols: 160, rows: 48 });
  await main.until("one pane", () => main.panes.length === 1);
  const tmux = await TmuxOfSession.of(main);
  tmux.run("set-option", "-g", "default-command", "cat");
  const restarts = new Set([Math.floor(STEPS / 3)]);
  let cuts = 0;
  for (let step = 0; step < STEPS; step += 1) {
    const kept = random.pick(main.panes).id;
    const words = main.step(random, kept);
    if ("outside" in words) tmux.try(...words.outside);
    else main.client.say(words.say);
    const roll = cutting.int(0, 15);
    if (restarts.has(step)) await restartWorker();
    else if (roll === 0) main.client.drop();
    else if (roll === 1) await cutInnerHop();
    if (restarts.has(step) || roll <= 1) {
      cuts += 1;
      await main.back();
    }
    // Orders are followed in turn: when this one has been, so has what came before it, unless it was lost on the way.
    await main.name(kept, `step-${step}`);
    const what = `step ${step} of seed ${SEED}, ${JSON.stringify(words)}, known as tmux says it`;
    await until(what, () => main.told().join() === tmux.list().join());
  }
  expect(cuts).toBeGreaterThan(STEPS / 20);
  main.client.say({ type: "kill" });
  await until("its end", () => tmux.hasEnded);
});
