// Logging in with nothing but the address of a server that names its issuer.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { type Issuer, startIssuer } from "../../../local/src/issuer/issuer.ts";
import { cleanEnv, runCli, scratch } from "../fixture/cli.ts";
import { loginAsAlice } from "../fixture/device-login.ts";

let issuer: Issuer;
let env: NodeJS.ProcessEnv;
beforeEach(async () => {
  const life = { deviceInterval: 0.05, accessTokenLifetime: 3600 };
  issuer = await startIssuer({ port: 0, dir: scratch(), publicOrigin: "http://127.0.0.1:1", ...life });
  env = cleanEnv({ SBX_TOKEN: "" });
});
afterEach(() => issuer.close());

/** A server that names its issuers, and writes down whose token it is shown. */
async function serve(issuers: unknown) {
  const shown: string[] = [];
  const server = createServer((request, response) => {
    shown.push(request.headers.authorization?.replace("Bearer ", "") ?? "");
    const isMetadata = request.url === "/.well-known/oauth-protected-resource";
    response.end(JSON.stringify(isMetadata ? { authorization_servers: issuers } : { sessions: [] }));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, shown };
}

const login = (...words: string[]) => loginAsAlice(issuer.url, env, words);

test("a server of this machine is believed that names an issuer of this machine", async () => {
  const { url, shown } = await serve(["https://issuer.example", issuer.url]);
  expect((await login(url)).code).toBe(0);
  expect((await runCli(["ls", url], "", env)).code).toBe(0);
  const claims: unknown = JSON.parse(Buffer.from((shown.at(-1) ?? "").split(".")[1] ?? "", "base64url").toString());
  expect(claims).toMatchObject({ sub: "alice", iss: issuer.url });
});

test.each<[unknown, string]>([
  [["https://issuer.example/x", "https://b.example"], "https://issuer.example/x or https://b.example"],
  [["no address", "https://b.example"], ""],
  ["https://b.example", ""],
])("the word of a server that names %j is only said: the login is where it was chosen", async (issuers, names) => {
  expect((await login("--issuer", issuer.url)).code).toBe(0);
  const { url } = await serve(issuers);
  const line = `The server's issuer is ${names}, but this login uses ${issuer.url}; choose with --issuer URL\n`;
  const stderr = `${names === "" ? "" : line}Already logged in; use --force to log in again\n`;
  expect(await login(url)).toMatchObject({ code: 0, stderr });
});
