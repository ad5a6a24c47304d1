// ttyd's clients at a session of ours: what its page says and hears, beside clients of our own.
import { describe, expect, test } from "vitest";
import { loginCookie } from "../support/clients/login.ts";
import { TtydClient, type TtydClientOptions } from "../support/clients/ttyd-client.ts";
import { api, fresh, type Person, person, system } from "../support/system/system.ts";

const address = (path: string) => `${system.origin.replace(/^http/, "ws")}/terminal/${path}`;

function terminal(who: Person, project: string, options: TtydClientOptions = {}, path = ""): Promise<TtydClient> {
  const headers = { Authorization: `Bearer ${who.token}`, ...options.headers };
  return TtydClient.connect(address(`${project}${path}`), { ...options, headers });
}

type Listing = { readonly session: string; readonly incarnation: string; readonly state: string };

async function sessions(who: Person, project: string): Promise<Listing[]> {
  const answer = await api(who, `/api/sandboxes/${project}/sessions`);
  return ((await answer.json()) as { sessions: Listing[] }).sessions;
}

describe("a conversation", () => {
  test("starts with title and preferences, then the shell of the size that the client gave", async () => {
    const [who, project] = [await person(), fresh("project")];
    const client = await terminal(who, project, { first: '{"AuthToken":"","columns":93,"rows":31}' });
    await client.shows(/[$#] $/);
    expect(client.received.slice(0, 2).map(({ bytes }) => bytes.toString())).toEqual([
      `1main (${project})`,
      '2{"disableLeaveAlert":true}',
    ]);
    client.type("stty size\r");
    await client.shows("31 93");
    client.resize(120, 40);
    client.type("stty size\r");
    await client.shows("40 120");
    expect(client.received.every(({ isBinary }) => isBinary)).toBe(true);
    expect(client.socket.protocol).toBe("tty");
  });

  test.each<[string, TtydClientOptions, string]>([["of the page, below /ws", {}, "/ws"]])(
    "is had with a client %s",
    async (_name, options, path) => {
      const client = await terminal(await person(), fresh("project"), options, path);
      client.type("echo $((40+2))\r");
      await client.shows("42");
    },
  );

  test("does not begin before the client's first message: until then no process is started", async () => {
    const [who, project] = [await person(), fresh("project")];
    const client = await terminal(who, project, { first: "" });
    client.type("echo ear''ly\r");
    // A round trip: what came before it has been dealt with.
    await new Promise<void>((resolve) => {
      client.socket.once("pong", () => resolve());
      client.socket.ping();
    });
    expect([client.received, await sessions(who, project)]).toEqual([[], []]);
    client.socket.send(Buffer.from('{"AuthToken":"","columns":80,"rows":24}'));
    await client.shows("early");
  });

  test("of one who comes after the shell has ended is with a new one, as at a ttyd", async () => {
    const [who, project] = [await person(), fresh("project")];
    const first = await terminal(who, project);
    await first.shows(/[$#] $/);
    const [before] = await sessions(who, project);
    first.type("exit 3\r");
    expect((await first.end()).code).toBe(1000);
    // Several at once: one shell for all of them.
    const next = await Promise.all([1, 2, 3].map(() => terminal(who, project)));
    next[0]?.type("echo anew''-here\r");
    for (const client of next) await client.shows("anew-here");
    const [running, ...others] = await sessions(who, project);
    expect([running?.state, others]).toEqual(["running", []]);
    expect(running?.incarnation).not.toBe(before?.incarnation);
  });
});

describe("pause", () => {
  test("holds the output of its client and of nobody else, until resume brings all of it, in order", async () => {
    const [who, project] = [await person(), fresh("project")];
    const [client, other] = [await terminal(who, project), await terminal(who, project)];
    await Promise.all([client.shows(/[$#] $/), other.shows(/[$#] $/)]);
    client.pause();
    // The other's word comes after the pause has been heard: it is typed on the same connection, behind it.
    client.type("echo he''ld\r");
    await other.shows("held");
    const before = client.output().length;
    other.type("seq 2000; echo do''ne\r");
    await other.shows("done");
    expect(client.output().length).toBe(before);
    client.resume();
    const shown = await client.shows("done");
    expect(shown.match(/^\d+(?=\r$)/gm)).toEqual(Array.from({ length: 2000 }, (_, index) => String(index + 1)));
    expect(client.output().toString()).toContain("held");
  });
});

describe("who is refused", () => {
  test.each<[string, string | Buffer, number]>([["a first message that is no JSON", "{", 1008]])(
    "%s closes its own connection, and harms no other",
    async (_name, frame, code) => {
      const [who, project] = [await person(), fresh("project")];
      const [bad, good] = [await terminal(who, project), await terminal(who, project)];
      bad.socket.send(frame);
      expect((await bad.end()).code).toBe(code);
      good.type("echo fi''ne\r");
      await good.shows("fine");
    },
  );
});

describe("over HTTP", () => {
  test("the token is answered as a ttyd without a password answers it", async () => {
    const answer = await fetch(`${system.origin}/terminal/${fresh("project")}/token`);
    expect([answer.status, answer.headers.get("content-type"), await answer.text()]).toEqual([
      200,
      "application/json;charset=utf-8",
      '{"token": ""}',
    ]);
  });

  test("the page is ours, at the same session, and is given no token", async () => {
    const answer = await fetch(`${system.origin}/terminal/p?session=s&token=secret`, { redirect: "manual" });
    expect([answer.status, answer.headers.get("location")]).toEqual([302, "/?sandbox=p&session=s"]);
  });

  test("what a ttyd does not have is not found", async () => {
    expect((await fetch(`${system.origin}/terminal/p/other`)).status).toBe(404);
  });

  test("the cookie opens a WebSocket from our own origin, and from no other", async () => {
    const [who, project] = [await person(), fresh("project")];
    const Cookie = await loginCookie(who.sub, who.org);
    const client = await TtydClient.connect(address(project), { headers: { Cookie, Origin: system.origin } });
    await client.shows(/[$#] $/);
    const stranger = TtydClient.connect(address(project), { headers: { Cookie, Origin: "https://evil.example" } });
    await expect(stranger).rejects.toThrow("403");
  });
});
