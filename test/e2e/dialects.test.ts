// Other products' clients beside ours, over the real system: one session, every dialect.
import { expect, test } from "vitest";
import { connect } from "./support/client.ts";
import { type ForeignClient, foreign } from "./support/foreign-client.ts";
import { fresh, type Person, person, system } from "./support/system.ts";
import { TtydClient } from "./support/ttyd-client.ts";

/** One client as the test drives it: it types as its dialect does, and tells all output that it has seen. */
interface Hand {
  readonly name: string;
  type(text: string): void;
  seen(text: string): Promise<unknown>;
}

/** What a client shows of what it was sent, as text. */
const jsonOutput = (client: ForeignClient) =>
  client
    .messages("output")
    .map((message) => message.data)
    .join("");

const bytesHand = (name: string, client: ForeignClient): Hand => ({
  name,
  type: (text) => client.type(text),
  seen: (text) => client.until(text, () => client.bytes().toString().includes(text)),
});

async function stdioHand(who: Person, sandbox: string, protocols: string[]): Promise<Hand> {
  const client = await connect(who, { sandbox, session: "main" }, { protocols });
  await client.hello();
  return { name: protocols[0] ?? "plain", type: (text) => client.type(text), seen: (text) => client.output(text) };
}

async function addonHand(who: Person, sandbox: string): Promise<Hand> {
  const client = await foreign(who, `/ws/terminal?id=${sandbox}`);
  await client.message("ready");
  return bytesHand("sandbox addon", client);
}

async function ttydHand(who: Person, sandbox: string): Promise<Hand> {
  const headers = { Authorization: `Bearer ${who.token}` };
  const client = await TtydClient.connect(`${system.origin.replace(/^http/, "ws")}/terminal/${sandbox}/ws`, {
    headers,
  });
  return { name: "ttyd", type: (text) => client.type(text), seen: (text) => client.shows(text) };
}

async function ptyHand(who: Person, sandbox: string): Promise<Hand> {
  const client = await foreign(who, `/v1/sandboxes/${sandbox}/exec/pty/shared?name=alice`, { protocols: ["pds-pty"] });
  await client.message("hello");
  return bytesHand("pty shared", client);
}

async function jsonHand(who: Person, sandbox: string): Promise<Hand> {
  const client = await foreign(who, `/sandbox/terminal?sessionId=${sandbox}:main`);
  await client.message("status");
  return {
    name: "json",
    type: (text) => client.say({ type: "input", data: text }),
    seen: (text) => client.until(text, () => jsonOutput(client).includes(text)),
  };
}

test("one session has a client of each dialect at once: each types in turn, and all see the same", async () => {
  const who = await person();
  const sandbox = fresh("box");
  const hands = [
    await stdioHand(who, sandbox, ["stdio.v1"]),
    await stdioHand(who, sandbox, []),
    await addonHand(who, sandbox),
    await ttydHand(who, sandbox),
    await ptyHand(who, sandbox),
    await jsonHand(who, sandbox),
  ];
  for (const [turn, typist] of hands.entries()) {
    // The sum is in no echo of what was typed.
    typist.type(`echo turn ${turn}: $((1000 + ${turn}))\r`);
    for (const hand of hands) await hand.seen(`turn ${turn}: ${1000 + turn}`);
  }
  expect(hands.map((hand) => hand.name)).toEqual(["stdio.v1", "plain", "sandbox addon", "ttyd", "pty shared", "json"]);
});
