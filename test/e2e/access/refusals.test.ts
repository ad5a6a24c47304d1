// Who and what is not let in, and how each kind of client is told.
import { generateKeyPairSync, sign } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { connect, type Params, refusedHttp, refusedSocket } from "../support/clients/client.ts";
import { api, mint, type Person, person, system } from "../support/system/system.ts";

const bye = (code: number, reason: string) => ({ bye: { type: "bye", code, reason, retry: "never" }, code, reason });

/** Both answers to one attempt: HTTP for a plain client, a WebSocket that says `bye` for `stdio.v1`; they must agree. */
async function expectRefused(
  who: Person | undefined,
  params: Params,
  [status, error, message]: readonly [number, string, string],
): Promise<void> {
  const http = await refusedHttp(who, params);
  expect([http.status, http.body]).toEqual([status, `${JSON.stringify({ error, message })}\n`]);
  expect([http.headers["content-type"], http.headers["cache-control"]]).toEqual(["application/json", "no-store"]);
  expect(await refusedSocket(who, params)).toEqual(bye(4000 + status, message));
}

describe("a token", () => {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const split = (token: string) => token.split(".") as [string, string, string];
  const header = (token: string) => JSON.parse(Buffer.from(split(token)[0], "base64url").toString());

  /** The claims of a good token under another header, signed by `signer`. */
  async function resigned(change: object, signer: (text: string) => Buffer): Promise<string> {
    const good = await mint();
    const text = `${encode({ ...header(good), ...change })}.${split(good)[1]}`;
    return `${text}.${signer(text).toString("base64url")}`;
  }

  const BAD_SIGNATURE = [401, "bad_signature", "The token is not signed by its issuer"] as const;
  const MALFORMED = [401, "malformed", "The token can't be read"] as const;

  test.each<[string, () => Promise<string> | string, readonly [number, string, string]]>([
    ["of garbage", () => "garbage", MALFORMED],
    ["that has expired", () => mint({ expires: -3600 }), [401, "expired", "The token has expired"]],
    [
      "of another issuer, even if it is signed with our issuer's key",
      () => mint({ issuer: "https://issuer.example" }),
      [401, "wrong_issuer", "The token is from another issuer"],
    ],
    [
      "that was made for another application",
      () => mint({ aud: "somebody-elses-app" }),
      [401, "wrong_audience", "The token was made for another application"],
    ],
    [
      "signed with another key under our key's name",
      () => {
        const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
        return resigned({}, (text) => sign("sha256", Buffer.from(text), privateKey));
      },
      BAD_SIGNATURE,
    ],
  ])("%s opens nothing", async (_name, make, answer) => {
    const who = { ...(await person()), token: await make() };
    await expectRefused(who, { cmd: "cat" }, answer);
  });
});

describe("a token's place", () => {
  test("may be the header, a subprotocol beside stdio.v1, which is never echoed, or the query", async () => {
    const who = await person();
    for (const tokenIn of ["header", "subprotocol", "query"] as const) {
      const client = await connect(who, { cmd: "cat" }, { tokenIn });
      expect(client.socket.protocol).toBe("stdio.v1");
      expect((await client.hello()).type).toBe("hello");
    }
  });
});

describe("a subprotocol", () => {
  test("that nobody speaks is refused with 400", async () => {
    const { status, body } = await refusedHttp(await person(), {}, { protocols: ["stdio.v9"] });
    const message = "none of the subprotocols offered is spoken here; stdio.v1 is";
    expect([status, JSON.parse(body)]).toEqual([400, { error: "bad_request", message }]);
  });
});

test("/attach without an upgrade is 426", async () => {
  const response = await api(await person(), "/attach");
  const body = { error: "upgrade_required", message: "/attach is a WebSocket" };
  expect([response.status, await response.json()]).toEqual([426, body]);
});

describe("a malformed query", () => {
  const NAME_RULE = "must be 1 to 64 letters, digits, dots, dashes or underscores, and not start with a dot or dash";
  const cases: [Params, string][] = [
    [{ sandbox: "a/b" }, `"sandbox" ${NAME_RULE}`],
    [
      { cmd: "cat", arg: ["x".repeat(20_000)] },
      "the command is too long: 20013 bytes in a URL with its arguments, environment and directory, at most 14336",
    ],
    [{ name: "a\u001b[2Jb" }, '"name" must be at most 64 bytes with no control characters'],
  ];
  let alice: Person;
  beforeAll(async () => {
    alice = await person();
  });

  test.each(cases.map(([params, reason]) => [JSON.stringify(params).slice(0, 40), params, reason] as const))(
    "%s is refused by name",
    async (_name, params, reason) => {
      await expectRefused(alice, params, [400, "bad_request", reason]);
    },
  );
});

describe("somebody else's sandbox", () => {
  test("can't be reached by its names: they mean another, empty one", async () => {
    const alice = await person();
    const mallory = await person();
    const names = { sandbox: "dev", session: "main" };
    const script = "echo secret > note; pwd; cat";
    const hers = await connect(alice, { ...names, cmd: "sh", arg: ["-c", script] });
    await hers.output("\n");
    const listing = async (who: Person) => await (await api(who, "/api/sandboxes/dev/sessions")).json();
    expect(await listing(mallory)).toEqual({ sessions: [] });
    for (const method of ["GET", "DELETE"]) {
      expect((await api(mallory, "/api/sandboxes/dev/sessions/main", { method })).status).toBe(404);
    }
    expect(await refusedSocket(mallory, { ...names, role: "viewer" })).toMatchObject({ code: 4404 });
    const { resume } = await hers.hello();
    expect(await refusedSocket(mallory, { ...names, resume: String(resume) })).toMatchObject({ code: 4400 });

    const his = await connect(mallory, { ...names, cmd: "sh", arg: ["-c", "pwd; ls"] });
    await his.end();
    // No file is there: it is another folder, of the same name perhaps in another container.
    expect(his.text(1)).toMatch(/^\/\S+\n$/);
    expect((await his.hello()).incarnation).not.toBe((await hers.hello()).incarnation);
    hers.type("alive\n");
    await hers.output("alive\n");
    expect(hers.messages("join")).toEqual([]);
  });
});

test.each([
  ["GET", "/nothing/here"],
  ["GET", "/api/nothing"],
])("%s %s, where nothing is, is told so in JSON", async (method, path) => {
  const answer = await fetch(`${system.origin}${path}`, { method });
  expect([answer.status, answer.headers.get("content-type")]).toEqual([404, "application/json"]);
  const message = expect.stringContaining(`no ${method} ${path}`);
  expect(await answer.json()).toEqual({ error: "not_found", message });
});

describe("a host name that is not on the list", () => {
  const port = new URL(system.origin).port;

  test.each([`evil.example:${port}`, "localhost:1"])("%s is refused, to every kind of client", async (host) => {
    const who = await person();
    const message = "This server does not answer under that host name";
    for (const protocols of [[], ["stdio.v1"]]) {
      const { status, body } = await refusedHttp(who, { cmd: "cat" }, { protocols, headers: { Host: host } });
      expect([status, JSON.parse(body)]).toEqual([403, { error: "bad_host", message }]);
    }
  });
});
