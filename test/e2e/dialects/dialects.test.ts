// Other products' clients beside ours, over the real system: one session, every dialect.
import { describe, expect, test } from "vitest";
import { connect, refusedSocket } from "../support/clients/client.ts";
import { type ForeignClient, foreign, foreignRefused } from "../support/clients/foreign-client.ts";
import { TtydClient } from "../support/clients/ttyd-client.ts";
import {
  addon,
  addonPath,
  json,
  jsonPath,
  ptyPath,
  shared,
  sharedPath,
  shows,
} from "../support/generators/foreign-routes.ts";
import { api, fresh, type Person, person, system } from "../support/system/system.ts";

/** One client as the test drives it: it types as its dialect does, and waits for what it is to see. */
interface Hand {
  type(text: string): void;
  seen(text: string): Promise<unknown>;
}

async function stdioHand(who: Person, sandbox: string, protocols: string[]): Promise<Hand> {
  const client = await connect(who, { sandbox, session: "main" }, { protocols });
  await client.hello();
  return { type: (text) => client.type(text), seen: (text) => client.output(text) };
}

const handOf = (client: ForeignClient, type: (text: string) => void): Hand => ({
  type,
  seen: (text) => shows(client, text),
});

async function ttydHand(who: Person, sandbox: string): Promise<Hand> {
  const headers = { Authorization: `Bearer ${who.token}` };
  const client = await TtydClient.connect(`${system.origin.replace(/^http/, "ws")}/terminal/${sandbox}/ws`, {
    headers,
  });
  return { type: (text) => client.type(text), seen: (text) => client.shows(text) };
}

async function bytesHand(opening: Promise<ForeignClient>): Promise<Hand> {
  const client = await opening;
  return handOf(client, (text) => client.type(text));
}

async function jsonHand(who: Person, sandbox: string): Promise<Hand> {
  const client = await json(who, sandbox);
  return handOf(client, (text) => client.say({ type: "input", data: text }));
}

/** A new dialect is a line here. */
const HANDS: readonly [name: string, open: (who: Person, sandbox: string) => Promise<Hand>][] = [
  ["stdio", (who, sandbox) => stdioHand(who, sandbox, ["stdio.v1"])],
  ["plain", (who, sandbox) => stdioHand(who, sandbox, [])],
  ["sandbox addon", (who, sandbox) => bytesHand(addon(who, sandbox))],
  ["ttyd", ttydHand],
  ["pty, shared", (who, sandbox) => bytesHand(shared(who, sandbox))],
  ["json", jsonHand],
];

test("one session has a client of each dialect at once: each types in turn, and all see the same", async () => {
  const who = await person();
  const sandbox = fresh("box");
  const hands: Hand[] = [];
  for (const [, open] of HANDS) hands.push(await open(who, sandbox));
  for (const [turn, typist] of hands.entries()) {
    // The sum is in no echo of what was typed.
    typist.type(`echo "turn ${turn}: $((1000 + ${turn})) é日👩"\r`);
    for (const hand of hands) await hand.seen(`turn ${turn}: ${1000 + turn} é日👩`);
  }
});

test("who comes late sees what was before, in each dialect", async () => {
  const who = await person();
  const sandbox = fresh("box");
  const first = await stdioHand(who, sandbox, ["stdio.v1"]);
  first.type("echo before: $((20 + 3))\r");
  await first.seen("before: 23");
  for (const [, open] of HANDS) await (await open(who, sandbox)).seen("before: 23");
});

describe("a client that speaks another dialect than its route's is refused, and harms nobody", () => {
  const refusals: [route: string, path: (sandbox: string) => string, frame: string | Buffer, told: unknown][] = [
    ["json", jsonPath, "ls\r", { code: 1008 }],
    ["pty", sharedPath, '{"type":"input","data":"ls"}', { type: "error", message: expect.stringContaining('"input"') }],
    ["addon", addonPath, '{"type":"resize","cols":"80"}', { code: 1008 }],
  ];

  test.each(refusals)("%s, which is sent %3$s", async (_route, path, frame, told) => {
    const who = await person();
    const sandbox = fresh("box");
    const bystander = await stdioHand(who, sandbox, ["stdio.v1"]);
    const client = await foreign(who, path(sandbox));
    client.socket.send(frame, { binary: typeof frame !== "string" });
    const isClosed = typeof told === "object" && told !== null && "code" in told;
    expect(isClosed ? await client.end() : await client.message("error")).toMatchObject(told as object);
    bystander.type("echo unharmed: $((6 * 7))\r");
    await bystander.seen("unharmed: 42");
  });

  test.each([["stdio.v1 at the JSON gateway", jsonPath, "stdio.v1"]])(
    "a subprotocol that is not spoken there is refused before the upgrade: %s",
    async (_what, path, protocol) => {
      const refusal = foreign(await person(), path(fresh("box")), { protocols: [protocol] });
      await expect(refusal).rejects.toMatchObject({ status: 400, body: expect.stringContaining("spoken here") });
    },
  );
});

describe("T1: a ticket for another session", () => {
  const statusOf = async (path: string) => (await foreignRefused(undefined, path)).status;
  const ttydCode = async (sandbox: string, ticket: string) => {
    const address = `${system.origin.replace(/^http/, "ws")}/terminal/${sandbox}?session=main&ticket=${ticket}`;
    return (await (await TtydClient.connect(address)).end()).code;
  };

  const ours = (sandbox: string, ticket: string) => ({ sandbox, session: "main", ticket });
  type Ask = (sandbox: string, ticket: string) => Promise<number>;
  /** The status of HTTP, or the code of the close, whichever the route refuses with. */
  const REFUSALS: readonly [name: string, answer: number, ask: Ask][] = [
    ["stdio", 4403, async (sandbox, ticket) => (await refusedSocket(undefined, ours(sandbox, ticket))).code],
    ["pty", 403, (sandbox, ticket) => statusOf(ptyPath(sandbox, { ticket }))],
    // As their documents have it: a session, or a project, that is not the caller's own.
    ["json", 401, (sandbox, ticket) => statusOf(`${jsonPath(sandbox)}&ticket=${ticket}`)],
    ["ttyd", 4401, ttydCode],
  ];

  async function ticketFor(who: Person, target: object): Promise<string> {
    const answer = await api(who, "/api/tickets", { method: "POST", body: JSON.stringify(target) });
    return ((await answer.json()) as { ticket: string }).ticket;
  }

  test.each(REFUSALS)("%s is refused with %i", async (_name, answer, ask) => {
    const who = await person();
    const sandbox = fresh("box");
    expect(await ask(sandbox, await ticketFor(who, { sandbox, session: "other" }))).toBe(answer);
    expect(await ask(sandbox, await ticketFor(who, { sandbox: fresh("box"), session: "main" }))).toBe(answer);
  });

  test("one for this session that is a viewer's lets nobody drive, which is 403 there too", async () => {
    const who = await person();
    const sandbox = fresh("box");
    const ticket = await ticketFor(who, { sandbox, session: "main", role: "viewer" });
    expect(await statusOf(`${jsonPath(sandbox)}&role=driver&ticket=${ticket}`)).toBe(403);
    expect(await ttydCode(sandbox, `${ticket}&role=driver`)).toBe(4403);
  });
});
