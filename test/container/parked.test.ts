// A session in a container is parked, and its bridge calls when there is output: through the runtime's own exit, as egress.test.ts
// has it. What leads a container's calls there on the platform, a program in the container does here.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { containerLog, docker } from "../../packages/local/src/base/docker.ts";
import { tokenMinter } from "../../packages/local/src/issuer/tokens.ts";
import { connect } from "../e2e/support/clients/client.ts";
import { fresh, type Person } from "../e2e/support/system/system.ts";
import { until } from "../e2e/support/system/wait.ts";
import { WORKER_VARS } from "../e2e/support/system/worker-vars.ts";
import { type ContainerSystem, startContainerSystem } from "./container-system.ts";
import { containerOf, exitOf } from "./containers.ts";
import { containerWay } from "./way.ts";

const BELL_HOST = "bell.sbx-stdio.internal";
/** Nobody is there (RFC 5737): the exit goes by the name. */
const NOBODY = "192.0.2.1:80";
const LIMIT_MS = 60_000;

const dir = mkdtempSync(join(tmpdir(), "sbx-parked-"));
let parking: ContainerSystem;

beforeAll(async () => {
  const workerVars = { ...WORKER_VARS, PARK_SECONDS: "1", STDIO_TRACE: "*" };
  parking = await startContainerSystem({ dir, way: containerWay(), workerVars });
});

afterAll(async () => {
  await parking?.stop();
  rmSync(dir, { recursive: true, force: true });
});

async function somebody(): Promise<Person> {
  const mint = await tokenMinter({ keysDir: dir, issuerUrl: parking.issuerUrl });
  const [sub, org] = [fresh("person"), fresh("org")];
  return { sub, org, token: await mint({ sub, org }) };
}

/** Leads all that is said to port 80 of `BELL_HOST`, inside of the container, to its exit. */
async function leadOut(container: string): Promise<void> {
  const { host, port } = await exitOf(container);
  // The sidecar knows the name from the container's own question for its address.
  const hello = `CONNECT ${NOBODY} HTTP/1.1\r\nHost: ${NOBODY}\r\nX-Hostname: ${BELL_HOST}\r\n\r\n`;
  const program = `
    const { createServer, connect } = require("node:net");
    createServer((near) => {
      const far = connect(${port}, ${JSON.stringify(host)}, () => far.write(${JSON.stringify(hello)}));
      const early = [];
      let isOpen = false;
      near.on("data", (bytes) => (isOpen ? far.write(bytes) : early.push(bytes)));
      far.on("data", (bytes) => {
        if (isOpen) return near.write(bytes);
        isOpen = true;
        for (const one of early) far.write(one);
      });
      for (const [one, other] of [[near, far], [far, near]]) one.on("error", () => {}).on("close", () => other.end());
    }).listen(80, "127.0.0.1");`;
  await docker("exec", container, "sh", "-c", `echo 127.0.0.1 ${BELL_HOST} >> /etc/hosts`);
  await docker("exec", "--detach", container, "bun", "-e", program);
}

test("H20a, H21: in a container too, output and the exit of a parked session come to its clients, who are told nothing else", async () => {
  const who = await somebody();
  const options = { server: parking.origin.replace(/^http/, "ws") };
  const container = await containerOf(who, "default", options);
  await leadOut(container);
  const params = { session: fresh("s"), cmd: "sh", arg: ["-c", "echo ready; read x < /tmp/news; echo $x; exit 7"] };
  await docker("exec", container, "mkfifo", "/tmp/news");
  const first = await connect(who, params, options);
  await first.output("ready\n");
  const second = await connect(who, { session: params.session }, options);
  await second.output("ready\n");
  const isParked = async () => {
    const trace = await containerLog(container);
    return trace.lastIndexOf("tells object parked") > trace.lastIndexOf("tells object hello");
  };
  await until("a parked session", isParked, LIMIT_MS);
  await docker("exec", container, "sh", "-c", "echo news > /tmp/news");
  for (const client of [first, second]) {
    await client.output("news\n");
    expect(await client.message("exit")).toMatchObject({ code: 7 });
    expect(client.text()).toBe("ready\nnews\n");
    expect([client.messages("hello").length, client.messages("status"), client.messages("bye")]).toEqual([1, [], []]);
  }
});
