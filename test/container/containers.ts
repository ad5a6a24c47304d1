// The containers of the tests' sandboxes, as the engine sees them.

import { docker } from "../../packages/local/src/base/docker.ts";
import { type ConnectOptions, connect } from "../e2e/support/clients/client.ts";
import { fresh, type Person } from "../e2e/support/system/system.ts";
import { until } from "../e2e/support/system/wait.ts";
import { CONTAINER_NAME } from "./sandbox-containers.ts";

/** Ids of the sandboxes' containers that run, in no order. */
export async function runningContainers(): Promise<string[]> {
  const text = await docker("ps", "--no-trunc", "--filter", `name=${CONTAINER_NAME}`, "--format", "{{.ID}} {{.Names}}");
  const rows = text.split("\n").map((line) => line.split(" "));
  return rows.flatMap(([id, name]) => (id && name && !name.endsWith("-proxy") ? [id] : []));
}

/** The container of a sandbox, which is started for it. */
export async function containerOf(who: Person, sandbox = "default", options: ConnectOptions = {}): Promise<string> {
  const mark = `/tmp/${fresh("mark")}`;
  const client = await connect(who, { sandbox, session: fresh("mark"), cmd: "touch", arg: [mark] }, options);
  await client.message("exit");
  return await containerWith(mark);
}

/** The container that has a file at `path`. @throws {Error} If none has. */
export async function containerWith(path: string): Promise<string> {
  for (const id of await runningContainers()) {
    if ((await docker("exec", id, "sh", "-c", `ls ${path} 2>/dev/null || true`)) === path) return id;
  }
  throw new Error(`No running container has ${path}`);
}

/** The runtime's own exit for a container's HTTP, of which its sidecar knows. */
export async function exitOf(container: string): Promise<{ readonly host: string; readonly port: string }> {
  const name = await docker("inspect", "--format", "{{.Name}}", container);
  const format = "{{range .NetworkSettings.Networks}}{{.Gateway}}{{end}} {{json .Config.Cmd}}";
  const sidecar = await docker("inspect", "--format", format, `${name}-proxy`);
  const [, host, port] = /^(\S+) .*"--http-egress-port","(\d+)"/.exec(sidecar) ?? [];
  if (host === undefined || port === undefined) throw new Error(`Cannot tell the exit from ${sidecar}`);
  return { host, port };
}

/** The container's own environment, where its secret is. */
export async function environmentOf(container: string): Promise<Record<string, string>> {
  const text = await docker("inspect", "--format", "{{json .Config.Env}}", container);
  const entries = (JSON.parse(text) as string[]).map((line): [string, string] => {
    const at = line.indexOf("=");
    return [line.slice(0, at), line.slice(at + 1)];
  });
  return Object.fromEntries(entries);
}

export async function isRunning(container: string): Promise<boolean> {
  return (await runningContainers()).includes(container);
}

/** Waits until the container has ended. */
export async function ended(container: string, limitMs?: number): Promise<void> {
  await until(`the end of container ${container.slice(0, 12)}`, async () => !(await isRunning(container)), limitMs);
}
