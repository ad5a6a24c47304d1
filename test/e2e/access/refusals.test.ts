// Who and what is not let in, and how each kind of client is told.
import { createHmac, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { get } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, test } from "vitest";
import { connect, HttpRefusal, type Params, refusedHttp, refusedSocket } from "../support/clients/client.ts";
import { loginCookie } from "../support/clients/login.ts";
import { api, fresh, mint, type Person, person, system } from "../support/system/system.ts";

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
  const keyFile = () => JSON.parse(readFileSync(join(system.dir, "issuer-key.json"), "utf8"));
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
    ["of three garbage parts", () => "a.b.c", MALFORMED],
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
    ["with alg none and no signature", () => resigned({ alg: "none" }, () => Buffer.alloc(0)), BAD_SIGNATURE],
    [
      "with alg HS256, signed with the public key as the secret",
      () => {
        const publicKey = createPublicKey({ key: keyFile(), format: "jwk" }).export({ type: "spki", format: "pem" });
        return resigned({ alg: "HS256" }, (text) => createHmac("sha256", publicKey).update(text).digest());
      },
      BAD_SIGNATURE,
    ],
    [
      "signed with another key under our key's name",
      () => {
        const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
        return resigned({}, (text) => sign("sha256", Buffer.from(text), privateKey));
      },
      BAD_SIGNATURE,
    ],
    [
      "of a key that the issuer does not have",
      () => {
        const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
        return resigned({ kid: "unknown" }, (text) => sign("sha256", Buffer.from(text), privateKey));
      },
      BAD_SIGNATURE,
    ],
    [
      "whose claims were changed",
      async () => {
        const [head, claims, signature] = split(await mint());
        const changed = { ...JSON.parse(Buffer.from(claims, "base64url").toString()), org_id: "another" };
        return `${head}.${encode(changed)}.${signature}`;
      },
      BAD_SIGNATURE,
    ],
    ["without a tenant", () => mint({ org: "" }), [403, "no_tenant", "The token has no org_id"]],
    [
      "with no scope that opens anything",
      () => mint({ scope: "sandbox:nothing" }),
      [403, "insufficient_scope", "This needs the scope sandbox:connect"],
    ],
    [
      "of an opaque kind that the issuer does not know",
      () => `at_${"x".repeat(43)}`,
      [401, "inactive", "The token is not active"],
    ],
  ])("%s opens nothing", async (_name, make, answer) => {
    const who = { ...(await person()), token: await make() };
    await expectRefused(who, { cmd: "cat" }, answer);
    const listing = await api(who, "/api/sandboxes/default/sessions");
    expect([listing.status, await listing.json()]).toEqual([answer[0], { error: answer[1], message: answer[2] }]);
  });

  test("that is missing opens nothing", async () => {
    await expectRefused(undefined, { cmd: "cat" }, [401, "no_token", "Log in, or give a token"]);
  });

  test("with no sandbox scope at all gets the default ones", async () => {
    const client = await connect(await person({ scope: "openid" }), { cmd: "cat" });
    expect((await client.hello()).you).toMatchObject({ role: "driver" });
  });

  test("is not told to come back, and HTTP says that a token is needed", async () => {
    const { headers } = await refusedHttp(undefined);
    expect(headers["www-authenticate"]).toBe("Bearer");
    const bad = await refusedHttp({ ...(await person()), token: "garbage" });
    expect(bad.headers["www-authenticate"]).toBe('Bearer error="invalid_token"');
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

  test("as the only subprotocol is refused with 400: it would have to be sent back", async () => {
    const { status, body } = await refusedHttp(await person(), { cmd: "cat" }, { tokenIn: "subprotocol" });
    expect([status, JSON.parse(body).error]).toEqual([400, "bad_subprotocol"]);
  });

  test("in two subprotocols is refused with 400", async () => {
    const who = await person();
    const protocols = ["stdio.v1", `bearer.${who.token}`, "bearer.second"];
    const { bye: said, code } = await refusedSocket(undefined, { cmd: "cat" }, { protocols });
    expect([said?.code, code]).toEqual([4400, 4400]);
  });

  test("that is refused is not made up for by a good one elsewhere", async () => {
    const who = await person();
    const { code } = await refusedSocket(
      who,
      { token: who.token },
      { tokenIn: "nowhere", headers: { Authorization: "Bearer garbage" } },
    );
    expect(code).toBe(4401);
  });
});

describe("a subprotocol", () => {
  test("that nobody speaks is refused with 400", async () => {
    const { status, body } = await refusedHttp(await person(), {}, { protocols: ["stdio.v9"] });
    const message = "none of the subprotocols offered is spoken here; stdio.v1 is";
    expect([status, JSON.parse(body)]).toEqual([400, { error: "bad_request", message }]);
  });

  test("of the inner hop is not spoken with clients", async () => {
    expect((await refusedHttp(await person(), {}, { protocols: ["stdio.inner.v1"] })).status).toBe(400);
  });

  test("that is unknown, before stdio.v1, is passed over", async () => {
    const client = await connect(await person(), { cmd: "cat" }, { protocols: ["stdio.v9", "stdio.v1"] });
    expect(client.socket.protocol).toBe("stdio.v1");
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
    [{ sandbox: "" }, `"sandbox" ${NAME_RULE}`],
    [{ sandbox: "a/b" }, `"sandbox" ${NAME_RULE}`],
    [{ sandbox: ".." }, `"sandbox" ${NAME_RULE}`],
    [{ session: "-x" }, `"session" ${NAME_RULE}`],
    [{ session: "x".repeat(65) }, `"session" ${NAME_RULE}`],
    [{ session: "é" }, `"session" ${NAME_RULE}`],
    [{ cmd: "" }, '"cmd" must not be empty'],
    [{ cmd: "a\0b" }, '"cmd" must not have a NUL character'],
    [{ cmd: "cat", arg: ["\0"] }, '"arg" must not have a NUL character'],
    [{ arg: ["x"] }, '"arg" needs a "cmd"'],
    [{ cmd: "cat", arg: Array.from({ length: 1025 }, () => "") }, '"arg" may be given 1024 times at most'],
    [
      { cmd: "cat", arg: ["x".repeat(20_000)] },
      "the command is too long: 20013 bytes in a URL with its arguments, environment and directory, at most 14336",
    ],
    [{ env: ["NOVALUE"] }, '"env" must be NAME=VALUE'],
    [{ env: ["=x"] }, '"env" must be NAME=VALUE'],
    [{ env: ["A B=x"] }, '"env" must be NAME=VALUE'],
    [{ env: ["A=\0"] }, '"env" must not have a NUL character'],
    [{ cwd: "/\0" }, '"cwd" must not have a NUL character'],
    [{ tty: "yes" }, '"tty" must be 0 or 1'],
    [{ cols: 0 }, '"cols" must be an integer from 1 to 1000'],
    [{ cols: 1001 }, '"cols" must be an integer from 1 to 1000'],
    [{ cols: "80.5" }, '"cols" must be an integer from 1 to 1000'],
    [{ cols: "" }, '"cols" must be an integer from 1 to 1000'],
    [{ rows: -1 }, '"rows" must be an integer from 1 to 500'],
    [{ rows: "501" }, '"rows" must be an integer from 1 to 500'],
    [{ name: "x".repeat(65) }, '"name" must be at most 64 bytes with no control characters'],
    [{ name: "ü".repeat(33) }, '"name" must be at most 64 bytes with no control characters'],
    [{ name: "a\u001b[2Jb" }, '"name" must be at most 64 bytes with no control characters'],
    [{ role: "admin" }, '"role" must be driver or viewer'],
    [{ mode: "shared" }, '"mode" must be collaborative or exclusive'],
    [{ delivery: "best" }, '"delivery" must be live or lossless'],
    [{ keep: 86_401 }, '"keep" must be an integer from 0 to 86400'],
    [{ keep: "1e3" }, '"keep" must be an integer from 0 to 86400'],
    [{ wake: "true" }, '"wake" must be 0 or 1'],
    [{ offset: -1 }, `"offset" must be an integer from 0 to ${Number.MAX_SAFE_INTEGER}`],
    [{ offset: "9007199254740993" }, `"offset" must be an integer from 0 to ${Number.MAX_SAFE_INTEGER}`],
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

  test("starts nothing", async () => {
    expect(await (await api(alice, "/api/sandboxes/default/sessions")).json()).toEqual({ sessions: [] });
  });

  test("parameters that nobody knows are ignored", async () => {
    const client = await connect(alice, { cmd: "cat", colour: "red", epoch: "x", label: "../x", create: 0 });
    expect((await client.hello()).type).toBe("hello");
  });
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

  test("is one's own where the tenant is the same, and nobody's where only the person is", async () => {
    const alice = await person();
    const names = { sandbox: "dev", session: "main" };
    const hers = await connect(alice, { ...names, cmd: "cat" });
    const { incarnation } = await hers.hello();
    const colleague = await connect(await person({ org: alice.org }), names);
    expect((await colleague.hello()).incarnation).toBe(incarnation);
    const elsewhere = await connect(await person({ sub: alice.sub }), { ...names, cmd: "cat" });
    expect((await elsewhere.hello()).incarnation).not.toBe(incarnation);
  });
});

test.each([
  ["GET", "/nothing/here"],
  ["POST", "/nothing/here"],
  ["GET", "/api/nothing"],
  ["DELETE", "/api/nothing"],
])("%s %s, where nothing is, is told so in JSON", async (method, path) => {
  const answer = await fetch(`${system.origin}${path}`, { method });
  expect([answer.status, answer.headers.get("content-type")]).toEqual([404, "application/json"]);
  const message = expect.stringContaining(`no ${method} ${path}`);
  expect(await answer.json()).toEqual({ error: "not_found", message });
});

describe("a host name that is not on the list", () => {
  const port = new URL(system.origin).port;

  test.each([`evil.example:${port}`, "evil.example", `localhost.evil.example:${port}`, "localhost:1"])(
    "%s is refused, to every kind of client",
    async (host) => {
      const who = await person();
      const message = "This server does not answer under that host name";
      for (const protocols of [[], ["stdio.v1"]]) {
        const { status, body } = await refusedHttp(who, { cmd: "cat" }, { protocols, headers: { Host: host } });
        expect([status, JSON.parse(body)]).toEqual([403, { error: "bad_host", message }]);
      }
    },
  );

  test.each(["/", "/healthz", "/api/me", "/login", "/api/sandboxes/default/sessions", "/no/such/route"])(
    "is refused at %s",
    async (path) => {
      const [status, body] = await new Promise<[number | undefined, string]>((resolve, reject) => {
        const headers = { Host: `evil.example:${port}` };
        const request = get({ host: "127.0.0.1", port, path, headers }, (response) => {
          text(response).then((said) => resolve([response.statusCode, said]), reject);
        });
        request.once("error", reject);
      });
      const message = "This server does not answer under that host name";
      expect([status, JSON.parse(body)]).toEqual([403, { error: "bad_host", message }]);
    },
  );

  test("127.0.0.1 is on it, for a local origin", async () => {
    const client = await connect(await person(), { cmd: "cat" }, { headers: { Host: `127.0.0.1:${port}` } });
    expect((await client.hello()).type).toBe("hello");
  });
});

describe("with the cookie of a login", () => {
  let cookie: string;
  const org = fresh("org");
  const attach = (headers: Record<string, string>, params: Params = { cmd: "cat" }) =>
    connect(undefined, params, { headers: { Cookie: cookie, ...headers } });
  const call = (path: string, method: string, headers: Record<string, string> = {}) =>
    api(undefined, path, { method, headers: { Cookie: cookie, ...headers } });

  beforeAll(async () => {
    cookie = await loginCookie("carol", org);
  });

  test("our own page attaches", async () => {
    const client = await attach({ Origin: system.origin });
    expect((await client.hello()).you).toMatchObject({ name: "Carol", role: "driver" });
  });

  test.each([
    ["another site", { Origin: "https://evil.example" }],
    ["another port", { Origin: "http://localhost:1" }],
    ["a sandboxed page", { Origin: "null" }],
    ["no page at all", {}],
  ])("%s can't attach, and is told so by HTTP alone", async (_name, headers) => {
    const error = await attach(headers as Record<string, string>).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof HttpRefusal)) throw new Error(`Not refused: ${error}`);
    const message = "With the cookie, only this server's own page may do this";
    expect([error.status, JSON.parse(error.body)]).toEqual([403, { error: "bad_origin", message }]);
  });

  test("reading needs no Origin, DELETE does", async () => {
    const client = await attach({ Origin: system.origin }, { session: "s", cmd: "cat" });
    await client.hello();
    const path = "/api/sandboxes/default/sessions/s";
    expect((await call(path, "GET")).status).toBe(200);
    expect((await call(path, "DELETE")).status).toBe(403);
    expect((await call(path, "DELETE", { Origin: "https://evil.example" })).status).toBe(403);
    expect((await call(path, "DELETE", { Origin: system.origin })).status).toBe(204);
  });

  test("a cookie that was changed opens nothing", async () => {
    const headers = { Cookie: `${cookie.slice(0, -4)}AAAA`, Origin: system.origin };
    const { bye: said } = await refusedSocket(undefined, { cmd: "cat" }, { headers });
    expect([said?.code, said?.reason]).toEqual([4401, "The session has ended, log in again"]);
  });

  test("a token beside it is what counts, from whatever page", async () => {
    const who = await person();
    const headers = { Cookie: cookie, Origin: "https://evil.example" };
    const client = await connect(who, { cmd: "cat" }, { headers });
    expect((await client.hello()).you).not.toMatchObject({ name: "Carol" });
  });
});
