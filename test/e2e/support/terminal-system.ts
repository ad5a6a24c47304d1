// A system of its own with a ttyd in its sandboxes, and a Project Service that says whose project it is: both are settings.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll } from "vitest";
import { sandboxKey } from "../../../worker/src/auth/names.ts";
import { dropTtydClients, TtydClient, type TtydClientOptions } from "./clients/ttyd-client.ts";
import { ProjectService } from "./servers/project-service.ts";
import { type TtydConnection, TtydServer } from "./servers/ttyd-server.ts";
import { type System, startSystem } from "./system/own-system.ts";
import { fresh } from "./system/system.ts";
import { until } from "./system/wait.ts";

export let ttyd: TtydServer;
export let projects: ProjectService;
export let system: System;

/** Starts them before the tests of the file that calls it, and stops them after. */
export function withTerminalSystem(): void {
  let dir: string;

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), "sbx-ttyd-system-"));
    ttyd = await TtydServer.listen();
    projects = await ProjectService.listen();
    system = await startSystem({
      dir,
      workerVars: { TERMINAL_UPSTREAM: "ttyd:7681", TERMINAL_URL: ttyd.url, PROJECT_SERVICE_URL: projects.url },
    });
  });

  afterEach(async () => {
    dropTtydClients();
    ttyd.serve = () => undefined;
    projects.fault = undefined;
    await until("no connection to a ttyd", () => ttyd.open.length === 0);
  });

  afterAll(async () => {
    await system?.stop();
    await ttyd?.kill();
    await projects?.close();
    rmSync(dir, { recursive: true, force: true });
  });
}

/** Somebody with a project of their own. */
export async function owner() {
  const sub = fresh("person");
  const project = fresh("project");
  const token = await system.mintToken({ sub });
  const user = `user of ${sub}`;
  projects.owns(token, project, user);
  const tenant = { issuer: system.issuerUrl, tenantClaim: "sub" as const, tenantValue: sub };
  return { sub, project, token, user, tenant, key: await sandboxKey(tenant, project) };
}

export type Owner = Awaited<ReturnType<typeof owner>>;

export function address(project: string, token?: string, part = ""): string {
  const query = token === undefined ? "" : `?token=${token}`;
  return `${system.origin.replace("http", "ws")}/terminal/${project}${part}${query}`;
}

export function connect(
  { project, token }: Pick<Owner, "project" | "token">,
  options?: TtydClientOptions,
): Promise<TtydClient> {
  return TtydClient.connect(address(project, token), options);
}

/** A client, and the ttyd's end of its connection. */
export async function connected(who: Owner, index = 0): Promise<[TtydClient, TtydConnection]> {
  return [await connect(who), await ttyd.connection(who.key, index)];
}

/** What the Project Service was asked about it. */
export const asked = (project: string) =>
  projects.questions.filter(({ body }) => (body as { project_id: string }).project_id === project);
