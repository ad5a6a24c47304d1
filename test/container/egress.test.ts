// What EGRESS_ALLOW keeps a container from reaching. The runtime's own exit is asked, from inside of the container and in the
// words of the sidecar that leads a container's connections there (cloudflare/proxy-everything): CONNECT, with the address
// that was dialled. Here curl says it, so that any sidecar will do that lets connections in. That no connection gets past the
// sidecar is not tested here, nor is anything beyond this machine.
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { tokenMinter } from "../../packages/local/src/issuer/tokens.ts";
import { connect } from "../e2e/support/clients/client.ts";
import { fresh, type Person, person, system } from "../e2e/support/system/system.ts";
import { WORKER_VARS } from "../e2e/support/system/worker-vars.ts";
import { type ContainerSystem, startContainerSystem } from "./container-system.ts";
import { containerOf, exitOf } from "./containers.ts";
import { containerWay } from "./way.ts";

/** One server, on this machine's own loopback, by two names: one on the list, one not. */
const ALLOWED = "localhost";
const OTHER = "127.0.0.1";
/** Nobody is there (RFC 5737): an answer from it was fetched by the name in the request. */
const NOBODY = "192.0.2.1";

const dir = mkdtempSync(join(tmpdir(), "sbx-egress-"));
/** What reached the server: the host that was asked for, and the path. */
const requests: string[] = [];
let port = 0;
const server = createServer(({ headers, url }, response) => {
  requests.push(`${headers.host} ${url}`);
  if (url === "/away") response.writeHead(302, { Location: `http://${OTHER}:${port}/followed` });
  response.end("the server's");
});
let restricted: ContainerSystem;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port");
  port = address.port;
  restricted = await startContainerSystem({
    dir,
    way: containerWay(),
    workerVars: { ...WORKER_VARS, EGRESS_ALLOW: ALLOWED },
  });
});

afterEach(() => {
  requests.length = 0;
});

afterAll(async () => {
  await restricted?.stop();
  server.close();
  rmSync(dir, { recursive: true, force: true });
});

type Answer = { readonly exitCode: unknown; readonly text: string };
const EMPTY_REPLY = 52;

/** Runs curl in a new sandbox, through its container's exit. */
async function curlIn(who: Person, origin: string): Promise<(...args: string[]) => Promise<Answer>> {
  const options = { server: origin.replace(/^http/, "ws") };
  const container = await containerOf(who, "default", options);
  const exit = await exitOf(container);
  const always = ["-sS", "-m", "10", "--proxytunnel", "-x", `http://${exit.host}:${exit.port}`, "-w", " %{http_code}"];
  return async (...args) => {
    const client = await connect(who, { session: fresh("s"), cmd: "curl", arg: [...always, ...args] }, options);
    const { code } = await client.message("exit");
    return { exitCode: code, text: client.text() };
  };
}

async function restrictedPerson(): Promise<Person> {
  const mint = await tokenMinter({ keysDir: dir, issuerUrl: restricted.issuerUrl });
  const [sub, org] = [fresh("person"), fresh("org")];
  return { sub, org, token: await mint({ sub, org }) };
}

/** curl's words for a request by this name, while the address that was dialled is another. */
const by = (name: string, dialled: string, path: string): string[] => [
  ...["--connect-to", `${name}:${port}:${dialled}`],
  `http://${name}:${port}${path}`,
];

test("without EGRESS_ALLOW a container gets out to any address", async () => {
  const curl = await curlIn(await person(), system.origin);
  expect(await curl(`http://${OTHER}:${port}/open`)).toEqual({ exitCode: 0, text: "the server's 200" });
  expect(requests).toEqual([`${OTHER}:${port} /open`]);
});

test("with EGRESS_ALLOW only HTTP gets out, to the hosts on the list by their names, and no redirect leads around that", async () => {
  const curl = await curlIn(await restrictedPerson(), restricted.origin);
  expect(await curl(...by(ALLOWED, `${NOBODY}:80`, "/allowed"))).toEqual({ exitCode: 0, text: "the server's 200" });
  expect(requests.splice(0)).toEqual([`${ALLOWED}:${port} /allowed`]);

  const disallowed = { exitCode: 0, text: "Origin is disallowed 520" };
  expect(await curl(...by(OTHER, `${NOBODY}:80`, "/"))).toEqual(disallowed);
  // HTTPS, as the sidecar passes it on once it has taken the encryption off: neither the name in the handshake nor the
  // address counts.
  const handshake = ["--proxy-header", `X-Tls-Sni: ${ALLOWED}`];
  expect(await curl(...handshake, ...by(OTHER, `${NOBODY}:443`, "/"))).toEqual(disallowed);
  // Bytes on any other port, even to an address that is on the list by name.
  for (const dialled of [ALLOWED, OTHER]) {
    const { exitCode, text } = await curl(...by(ALLOWED, `${dialled}:${port}`, "/"));
    expect([exitCode, text]).toEqual([EMPTY_REPLY, expect.stringMatching(/ 000$/)]);
  }
  expect(requests).toEqual([]);

  expect((await curl(...by(ALLOWED, `${NOBODY}:80`, "/away"))).text).toBe("the server's 302");
  expect(requests).toEqual([`${ALLOWED}:${port} /away`]);
});
